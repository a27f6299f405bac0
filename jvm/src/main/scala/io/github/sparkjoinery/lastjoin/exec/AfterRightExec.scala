package io.github.sparkjoinery.lastjoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution.{BinaryExecNode, SparkPlan}

/**
 * The left side of a LAST JOIN, held back until the right side is shuffled. Adaptive execution shuffles a side as soon
 * as its children are ready. This node has the right side's shuffle as a second child, the same one that the join
 * reads. The right side, reduced to a row per key, may turn out small enough to broadcast. The left side has then not
 * been shuffled in vain.
 *
 * @param rightKeys
 *   the join keys by which the right side is distributed
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
