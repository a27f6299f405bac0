package io.github.sparkjoinery.rangejoin.stored

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, ExprId}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{LeafExecNode, SparkPlan}
import org.apache.spark.sql.joinery.{CustomBroadcastRows, JoineryConf, RunSubplan}

import io.github.sparkjoinery.rangejoin.logical.RangeLayout

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
