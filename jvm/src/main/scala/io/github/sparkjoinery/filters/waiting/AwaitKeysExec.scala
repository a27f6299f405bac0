package io.github.sparkjoinery.filters.waiting

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{BinaryExecNode, SparkPlan}

/**
 * Rows that are not read before a shuffle of the other side is through. Adaptive execution plans them again then, with
 * a filter of the keys that were shuffled.
 *
 * @param keys
 *   the exchange that the join reads, too
 */
case class AwaitKeysExec(left: SparkPlan, keys: SparkPlan, filter: String) extends BinaryExecNode {
  override def nodeName: String = "AwaitKeys"
  override def right: SparkPlan = keys
  override def output: Seq[Attribute] = left.output
  override def outputPartitioning: Partitioning = left.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = left.outputOrdering
  override protected def doExecute(): RDD[InternalRow] = left.execute()
  override def simpleString(maxFields: Int): String = s"$nodeName $filter"
  override protected def withNewChildrenInternal(newLeft: SparkPlan, newRight: SparkPlan): AwaitKeysExec =
    copy(left = newLeft, keys = newRight)
}
