package io.github.sparkjoinery.execution

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.BuildRight
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.BroadcastNestedLoopJoinExec

/**
 * LAST JOIN with the right side broadcast, sorted by key and order ([[SortedRowsBroadcastMode]]); each left row
 * finds its candidates by binary search and tries them from the last backwards. The left side is streamed: it keeps
 * its partitioning and order. Memory: the right side once per executor, within Spark's broadcast limits.
 *
 * It extends Spark's nested loop join because adaptive execution accepts a broadcast stage below Spark's own
 * broadcast joins only, and otherwise stops re-planning without a word. Nothing of that operator's work is left.
 *
 * @param leftKeys,rightKeys,order,asOf,strict,residual see [[LastJoinTerms]]
 */
class BroadcastLastJoinExec(
    left: SparkPlan,
    right: SparkPlan,
    override val leftKeys: Seq[Expression],
    override val rightKeys: Seq[Expression],
    val order: Seq[SortOrder],
    val asOf: Option[Expression],
    val strict: Boolean,
    val residual: Option[Expression])
  extends BroadcastNestedLoopJoinExec(left, right, BuildRight, LeftOuter, residual) with LastJoinExec {

  override def terms: LastJoinTerms = LastJoinTerms(leftKeys, rightKeys, order, asOf, strict, residual)

  override protected def leftOutput: Seq[Attribute] = left.output
  override protected def rightOutput: Seq[Attribute] = right.output

  override lazy val metrics = commonMetrics

  override def requiredChildDistribution: Seq[Distribution] =
    Seq(UnspecifiedDistribution, BroadcastDistribution(SortedRowsBroadcastMode(terms, right.output)))

  override def supportCodegen: Boolean = false

  override protected def doExecute(): RDD[InternalRow] = {
    val broadcast = right.executeBroadcast[Array[InternalRow]]()
    left.execute().mapPartitions { leftRows =>
      val search = new SortedRowsSearch(broadcast.value, terms, leftOutput)
      val passes = residualPredicate()
      joinRows(leftRows)(search.lastMatch(_, passes))
    }
  }

  // A class cannot extend a case class as a case class: what the compiler would write, over our own arguments.
  override def productPrefix: String = "BroadcastLastJoin"
  override def nodeName: String = productPrefix
  private def arguments: Seq[Any] = Seq(left, right, leftKeys, rightKeys, order, asOf, strict, residual)
  override def productArity: Int = arguments.length
  override def productElement(n: Int): Any = arguments(n)
  override def productIterator: Iterator[Any] = arguments.iterator
  override def canEqual(that: Any): Boolean = that.isInstanceOf[BroadcastLastJoinExec]
  override def equals(that: Any): Boolean = that match {
    case other: BroadcastLastJoinExec => (this eq other) || arguments == other.arguments
    case _ => false
  }
  override def hashCode(): Int = arguments.hashCode()

  override protected def stringArgs: Iterator[Any] = Iterator(leftKeys, rightKeys, order, residual)
  override def verboseStringWithOperatorId(): String = describe

  override protected def withNewChildrenInternal(newLeft: SparkPlan, newRight: SparkPlan): BroadcastLastJoinExec =
    BroadcastLastJoinExec(newLeft, newRight, terms)
}

object BroadcastLastJoinExec {
  def apply(left: SparkPlan, right: SparkPlan, terms: LastJoinTerms): BroadcastLastJoinExec =
    new BroadcastLastJoinExec(left, right, terms.leftKeys, terms.rightKeys, terms.order, terms.asOf, terms.strict,
      terms.residual)
}
