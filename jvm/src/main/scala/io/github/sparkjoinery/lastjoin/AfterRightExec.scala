package io.github.sparkjoinery.lastjoin

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution.{BinaryExecNode, SparkPlan}

/**
 * The left side of a LAST JOIN, whose shuffle waits for the right side's. Under adaptive execution a side is shuffled
 * as soon as what is below it is ready; this node has the right side's shuffle below it, the very one that the join
 * reads, too. So when the right side, reduced to a row per key, turns out small enough to broadcast, the left side has
 * not been shuffled in vain.
 *
 * @param rightKeys
 *   as the join requires them to be distributed
 */
case class AfterRightExec(left: SparkPlan, right: SparkPlan, rightKeys: Seq[Expression]) extends BinaryExecNode {
  override def nodeName: String = "AfterRight"
  override def output: Seq[Attribute] = left.output
  override def outputPartitioning: Partitioning = left.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = left.outputOrdering
  override def requiredChildDistribution: Seq[Distribution] =
    Seq(UnspecifiedDistribution, ClusteredDistribution(rightKeys))
  override protected def doExecute(): RDD[InternalRow] = left.execute()
  override protected def withNewChildrenInternal(newLeft: SparkPlan, newRight: SparkPlan): AfterRightExec =
    copy(left = newLeft, right = newRight)
}
