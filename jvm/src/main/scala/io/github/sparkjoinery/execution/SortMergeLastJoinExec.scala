package io.github.sparkjoinery.execution

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution.{BinaryExecNode, SparkPlan}
import org.apache.spark.sql.execution.metric.SQLMetrics

/**
 * LAST JOIN of two sorted sides, one pass over each; without keys, in one partition. The left side keeps its
 * partitioning and order. Memory per key, by what ON says beyond the keys:
 *  - nothing: one row;
 *  - one as-of comparison (`r.ts <= l.ts`): one row, as the left side is sorted by time, too;
 *  - anything else: the key's right rows, in a buffer that spills.
 *
 * @param leftKeys,rightKeys,order,asOf,strict,residual see [[LastJoinTerms]]
 */
case class SortMergeLastJoinExec(
    left: SparkPlan,
    right: SparkPlan,
    leftKeys: Seq[Expression],
    rightKeys: Seq[Expression],
    order: Seq[SortOrder],
    asOf: Option[Expression],
    strict: Boolean,
    residual: Option[Expression]) extends BinaryExecNode with LastJoinExec {

  override def nodeName: String = "SortMergeLastJoin"

  override def terms: LastJoinTerms = LastJoinTerms(leftKeys, rightKeys, order, asOf, strict, residual)

  override protected def leftOutput: Seq[Attribute] = left.output
  override protected def rightOutput: Seq[Attribute] = right.output

  override def output: Seq[Attribute] = left.output ++ right.output.map(_.withNullability(true))

  override lazy val metrics = commonMetrics +
    ("spillSize" -> SQLMetrics.createSizeMetric(sparkContext, "spill size"))

  override def requiredChildDistribution: Seq[Distribution] =
    if (leftKeys.isEmpty) Seq(AllTuples, AllTuples)
    else Seq(ClusteredDistribution(leftKeys), ClusteredDistribution(rightKeys))

  // As of: both sides forwards in time. Else the right side backwards, so that the first row that passes is the last.
  override def requiredChildOrdering: Seq[Seq[SortOrder]] = {
    val byLeftKeys = leftKeys.map(SortOrder(_, Ascending))
    val byRightKeys = rightKeys.map(SortOrder(_, Ascending))
    if (terms.asOfOnly) {
      Seq(byLeftKeys ++ asOf.map(SortOrder(_, order.head.direction, order.head.nullOrdering, Nil)), byRightKeys ++ order)
    } else {
      Seq(byLeftKeys, byRightKeys ++ order.map(SortMergeLastJoinExec.reverse))
    }
  }

  override def outputPartitioning: Partitioning = left.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = left.outputOrdering

  override protected def doExecute(): RDD[InternalRow] = {
    val spillSize = longMetric("spillSize")
    left.execute().zipPartitions(right.execute()) { (leftRows, rightRows) =>
      val leftKey = UnsafeProjection.create(leftKeys, leftOutput)
      val cursor = new RightCursor(rightRows, rightKeys, rightOutput)
      val passes = residualPredicate()
      val group =
        if (terms.asOfOnly) new AsOfGroup(cursor, terms, leftOutput, rightOutput)
        else if (residual.isEmpty) new FirstRowGroup(cursor)
        else new BufferedGroup(cursor, passes, spillSize)
      joinRows(leftRows) { leftRow =>
        val key = leftKey(leftRow)
        if (key.anyNull) null else group.lastMatch(leftRow, key)
      }
    }
  }

  override protected def stringArgs: Iterator[Any] = Iterator(leftKeys, rightKeys, order, residual)
  override def verboseStringWithOperatorId(): String = describe

  override protected def withNewChildrenInternal(newLeft: SparkPlan, newRight: SparkPlan): SortMergeLastJoinExec =
    copy(left = newLeft, right = newRight)
}

object SortMergeLastJoinExec {
  def apply(left: SparkPlan, right: SparkPlan, terms: LastJoinTerms): SortMergeLastJoinExec =
    SortMergeLastJoinExec(left, right, terms.leftKeys, terms.rightKeys, terms.order, terms.asOf, terms.strict, terms.residual)

  /** The order in which the last row comes first. */
  private def reverse(order: SortOrder): SortOrder = {
    val direction = if (order.direction == Ascending) Descending else Ascending
    val nulls = if (order.nullOrdering == NullsFirst) NullsLast else NullsFirst
    SortOrder(order.child, direction, nulls, Nil)
  }
}
