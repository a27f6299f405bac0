package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.ApproximatePercentile
import org.apache.spark.sql.catalyst.optimizer.JoinSelectionHelper
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.{ArrayType, DoubleType, IntegerType}

import io.github.sparkjoinery.expressions.TimePart
import io.github.sparkjoinery.lastjoin.logical.{CarryOver, LastJoin, LastJoinTerms}

/**
 * An as-of join without keys, whose right side is too large to broadcast, stays distributed: time is cut into parts, at
 * quantiles of the right side, and the part becomes the key.
 * {{{
 *   LastJoin r.t <= l.t            Project
 *   :- left                        +- LastJoin r.part = l.part AND r.t <= l.t
 *   +- right              ==>         :- Project left.*, timepart(l.t, cuts) AS part
 *                                     +- CarryOver part                  -- with the prevailing row at the beginning of each part
 *                                        +- right
 * }}}
 * The cuts are a scalar subquery over the right side. They decide how evenly the work is spread, never what is found.
 */
object DistributeLastJoin extends Rule[LogicalPlan] with JoinSelectionHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformUpWithPruning(_.containsPattern(LastJoin.Pattern)) {
      case join: LastJoin if isCandidate(join) =>
        val terms = LastJoinTerms.of(join)
        (terms.leftLongTimeOrNull, terms.rightLongTime) match {
          case (Some(leftTime), Some(rightTime)) if terms.leftKeys.isEmpty && terms.onePass =>
            distribute(join, leftTime, rightTime)
          case _ => join
        }
    }

  private def isCandidate(join: LastJoin): Boolean = {
    val hint = join.hint.rightHint.flatMap(_.strategy)
    conf.numShufflePartitions > 1 && join.condition.exists(_.references.nonEmpty) && !hint.contains(BROADCAST) &&
    !canBroadcastBySize(join.right, conf)
  }

  private def distribute(join: LastJoin, leftTime: Expression, rightTime: Expression): LogicalPlan = {
    val parts = math.min(conf.numShufflePartitions, MostParts)
    val labels = TimePartLabels(parts, conf.numShufflePartitions)
    val cuts = ScalarSubquery(quantiles(rightTime, parts, join.right))
    val leftPart = Alias(TimePart(leftTime, cuts, labels), "part")()
    val rightPart = AttributeReference("part", IntegerType, nullable = false)()
    val keyed = join.copy(
      left = Project(join.left.output :+ leftPart, join.left),
      right = CarryOver(rightPart, rightTime, cuts, labels, join.order, join.right),
      condition = Some(And(EqualTo(leftPart.toAttribute, rightPart), join.condition.get))
    )
    Project(join.output.map(column => keyed.output.find(_.exprId == column.exprId).get), keyed)
  }

  private def quantiles(time: Expression, parts: Int, right: LogicalPlan): LogicalPlan = {
    val percentages =
      Literal.create((1 until parts).map(_.toDouble / parts), ArrayType(DoubleType, containsNull = false))
    val times = Alias(time, "time")()
    val quantiles = new ApproximatePercentile(times.toAttribute, percentages, Literal(Accuracy)).toAggregateExpression()
    val aggregate = Aggregate(Nil, Seq(Alias(quantiles, "cuts")()), Project(Seq(times), right))
    // The optimizer is through with subqueries by now.
    SparkSession.active.sessionState.optimizer.execute(Subquery(aggregate, correlated = false)) match {
      case subquery: Subquery => subquery.child
      case other => other
    }
  }

  private val MostParts = 1024
  private val Accuracy = 1000
}

/** Labels that Spark's hash partitioning sends to partitions of their own. */
private[rules] object TimePartLabels {
  def apply(parts: Int, partitions: Int): Seq[Int] = {
    val free = scala.collection.mutable.Set.from(0 until partitions)
    val labels = Iterator.from(0).filter { label =>
      free.remove(Pmod(new Murmur3Hash(Seq(Literal(label))), Literal(partitions)).eval().asInstanceOf[Int])
    }.take(parts).toArray
    labels.sortBy(label =>
      Pmod(new Murmur3Hash(Seq(Literal(label))), Literal(partitions)).eval().asInstanceOf[Int]).toSeq
  }
}
