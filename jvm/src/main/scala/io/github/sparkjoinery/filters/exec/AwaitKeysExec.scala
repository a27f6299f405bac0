package io.github.sparkjoinery.filters.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{BinaryExecNode, SparkPlan}

import io.github.sparkjoinery.planning.explain.JoineryOperator

/**
 * Delays its rows until the creation side of a runtime filter is shuffled. Adaptive execution makes no stage of the
 * exchange above before the exchange of the creation side is through. It then plans the rows again, with the filter.
 *
 * @param left
 *   the rows of the application side
 * @param right
 *   the exchange of the creation side, which the join reads, too
 * @param filter
 *   the filter to come, for EXPLAIN
 */
case class AwaitKeysExec(left: SparkPlan, right: SparkPlan, filter: String) extends BinaryExecNode
  with JoineryOperator {
  override def nodeName: String = "AwaitKeys"
  override def output: Seq[Attribute] = left.output
  override def outputPartitioning: Partitioning = left.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = left.outputOrdering
  override def simpleString(maxFields: Int): String = s"$nodeName $filter"
  override protected def doExecute(): RDD[InternalRow] = left.execute()
  override protected def withNewChildrenInternal(newLeft: SparkPlan, newRight: SparkPlan): AwaitKeysExec =
    copy(left = newLeft, right = newRight)
}
