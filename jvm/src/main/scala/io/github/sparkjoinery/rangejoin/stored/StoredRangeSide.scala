package io.github.sparkjoinery.rangejoin.stored

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, ExprId}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.execution.{LeafExecNode, SparkPlan}
import org.apache.spark.sql.joinery.{CustomBroadcastRows, JoineryConf, RunSubplan}

import io.github.sparkjoinery.planning.plans.PassThroughNode
import io.github.sparkjoinery.rangejoin.logical.RangeLayout

/**
 * Marks a side of a range join that has a valid stored index. Its rows are those of its child.
 *
 * @param stored
 *   the index
 */
case class StoredRangeSide(child: LogicalPlan)(val stored: StoredRangeIndex) extends UnaryNode with PassThroughNode {
  override def output: Seq[Attribute] = child.output

  /** True if the index still has exactly the side's columns; the optimizer may have pruned some since. */
  def isCurrent: Boolean = output.map(_.exprId) == stored.output.map(_.exprId)

  override protected def otherCopyArgs: Seq[AnyRef] = Seq(stored)
  override protected def withNewChildInternal(newChild: LogicalPlan): StoredRangeSide = copy(newChild)(stored)
}

/**
 * Scans a stored range index. The broadcast above collects the index; any other parent gets the side's rows.
 *
 * @param layout
 *   how the join indexes the rows
 * @param key
 *   identifies the stored and added rows; operators with equal keys are equal
 * @param side
 *   the side itself, planned only if its rows are needed
 */
case class StoredRangeSideExec(output: Seq[Attribute], @transient layout: RangeLayout, @transient key: Seq[Any])(
    @transient val stored: StoredRangeIndex,
    @transient side: LogicalPlan)
  extends LeafExecNode with CustomBroadcastRows {
  private val description = stored.describe

  override def nodeName: String = "StoredRangeIndex"
  override protected def otherCopyArgs: Seq[AnyRef] = Seq(stored, side)
  override protected def stringArgs: Iterator[Any] = Iterator(output, description)

  override protected def collected(): (Long, Iterator[InternalRow]) =
    stored.collect(layout, JoineryConf.rangeJoinMaxBroadcast)
  override protected def doExecute(): RDD[InternalRow] = RunSubplan.rdd(side, stored.session)

  override protected def doCanonicalize(): SparkPlan = {
    val columns = output.zipWithIndex.map { case (column, i) =>
      AttributeReference("none", column.dataType, column.nullable)(ExprId(i))
    }
    copy(columns, layout.canonicalized)(stored, side)
  }
}

object StoredRangeSideExec {
  def apply(side: StoredRangeSide, layout: RangeLayout): StoredRangeSideExec =
    StoredRangeSideExec(side.output, layout, side.stored.key)(side.stored, side.child)
}
