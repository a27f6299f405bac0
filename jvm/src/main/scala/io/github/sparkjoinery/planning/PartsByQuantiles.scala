package io.github.sparkjoinery.planning

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.ApproximatePercentile
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{ArrayType, DoubleType}

/**
 * Cuts a join that has no key to shuffle by. A number that both sides have is cut into parts, and the part becomes the
 * key.
 *
 * @param partitions
 *   of the shuffle
 */
case class PartsByQuantiles(partitions: Int) {
  import PartsByQuantiles._

  val parts: Int = math.min(partitions, MostParts)

  /** A label for each part. Spark's hash partitioning sends each to its own partition, in the partitions' order. */
  def labels: Seq[Int] = {
    def partitionOf(label: Int): Int =
      Pmod(new Murmur3Hash(Seq(Literal(label))), Literal(partitions)).eval().asInstanceOf[Int]
    val free = scala.collection.mutable.Set.from(0 until partitions)
    Iterator.from(0).filter(label => free.remove(partitionOf(label))).take(parts).toSeq.sortBy(partitionOf)
  }

  /**
   * The cuts between the parts, at quantiles, as a scalar subquery. They decide how evenly the work is spread, and not
   * which rows match, as long as both sides have the same. Quantiles depend on the order that rows come in, so the
   * subquery has to run once: adaptive execution sees to it by the subquery's expression id, and nothing else does.
   *
   * @param number
   *   over the relation: a long
   */
  def cuts(number: Expression, relation: LogicalPlan): ScalarSubquery = {
    val percentages =
      Literal.create((1 until parts).map(_.toDouble / parts), ArrayType(DoubleType, containsNull = false))
    val numbers = Alias(number, "number")()
    val quantiles =
      new ApproximatePercentile(numbers.toAttribute, percentages, Literal(Accuracy)).toAggregateExpression()
    val aggregate = Aggregate(Nil, Seq(Alias(quantiles, "cuts")()), Project(Seq(numbers), relation))
    // The optimizer is through with subqueries by the time joins are planned.
    SparkSession.active.sessionState.optimizer.execute(Subquery(aggregate, correlated = false)) match {
      case subquery: Subquery => ScalarSubquery(subquery.child)
      case other => ScalarSubquery(other)
    }
  }
}

object PartsByQuantiles {

  /** Why a join cannot be cut into parts. */
  def missing(join: LogicalPlan): Option[String] =
    if (!SQLConf.get.adaptiveExecutionEnabled) Some("adaptive execution is off")
    else if (join.isStreaming) Some("a stream's batches may run without adaptive execution")
    else None

  private val MostParts = 1024
  private val Accuracy = 1000
}
