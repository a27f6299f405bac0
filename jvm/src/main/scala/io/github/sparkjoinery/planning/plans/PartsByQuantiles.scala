package io.github.sparkjoinery.planning.plans

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.ApproximatePercentile
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.joinery.SparkSession
import org.apache.spark.sql.types.{ArrayType, DoubleType}

/**
 * Cuts a join without a shuffle key into parts. It cuts the range of a number that both sides have, and the part
 * becomes the key.
 *
 * @param partitions
 *   the number of partitions of the shuffle
 */
case class PartsByQuantiles(partitions: Int) {
  import PartsByQuantiles._

  val parts: Int = math.min(partitions, MostParts)

  /**
   * The labels of the parts. Spark's hash partitioning sends each label to a partition of its own, in the order of the
   * parts.
   */
  def labels: Seq[Int] = {
    def partitionOf(label: Int): Int =
      Pmod(new Murmur3Hash(Seq(Literal(label))), Literal(partitions)).eval().asInstanceOf[Int]
    val free = scala.collection.mutable.Set(0 until partitions: _*)
    Iterator.from(0).filter(label => free.remove(partitionOf(label))).take(parts).toVector.sortBy(partitionOf)
  }

  /**
   * Returns a scalar subquery of the cuts, which are quantiles. They decide how evenly the work is spread, but not
   * which rows match, if both sides use the same cuts. Quantiles depend on the order of the input, so the subquery must
   * run only once. Only adaptive execution ensures this, by the subquery's expression id.
   *
   * @param number
   *   a long over the relation
   */
  def cuts(number: Expression, relation: LogicalPlan): ScalarSubquery = {
    val percentages =
      Literal.create((1 until parts).map(_.toDouble / parts), ArrayType(DoubleType, containsNull = false))
    val numbers = Alias(number, "number")()
    val quantiles =
      new ApproximatePercentile(numbers.toAttribute, percentages, Literal(Accuracy)).toAggregateExpression()
    val aggregate = Aggregate(Nil, Seq(Alias(quantiles, "cuts")()), Project(Seq(numbers), relation))
    // Spark has optimized the query's subqueries before, so this one is optimized here.
    SparkSession.active.sessionState.optimizer.execute(Subquery(aggregate, correlated = false)) match {
      case subquery: Subquery => ScalarSubquery(subquery.child)
      case other => ScalarSubquery(other)
    }
  }
}

object PartsByQuantiles {

  /** Returns why a join cannot be cut into parts; None if it can. */
  def missing(join: LogicalPlan): Option[String] =
    if (!SQLConf.get.adaptiveExecutionEnabled) Some("adaptive execution is off")
    else if (join.isStreaming) Some("a stream's batches may run without adaptive execution")
    else None

  private val MostParts = 1024
  private val Accuracy = 1000
}
