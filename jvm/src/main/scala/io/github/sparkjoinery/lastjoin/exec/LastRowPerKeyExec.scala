package io.github.sparkjoinery.lastjoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.metric.SQLMetrics
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

import io.github.sparkjoinery.execution.rows.RowGrouping
import io.github.sparkjoinery.lastjoin.runtime.LastRows

/**
 * Keeps the last row of each key within one partition. It only saves work for the operators above, so it may stop. If
 * memory runs short, it emits the rows that it holds and starts again. If most keys turn out to be distinct, it passes
 * the remaining rows through.
 *
 * @param keys
 *   the right side's join keys
 * @param order
 *   the join's ORDER BY and tie-breaker
 */
case class LastRowPerKeyExec(keys: Seq[Expression], order: Seq[SortOrder], child: SparkPlan) extends UnaryExecNode {

  override def nodeName: String = "LastRowPerKey"
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning

  override lazy val metrics = Map(
    "numInputRows" -> SQLMetrics.createMetric(sparkContext, "number of input rows"),
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows")
  )

  override protected def doExecute(): RDD[InternalRow] = {
    val terms = RowGrouping(
      BindReferences.bindReferences(keys, child.output),
      BindReferences.bindReferences(order, child.output),
      time = None,
      onlyLast = true,
      child.output.length)
    val (numInputRows, numOutputRows) = (longMetric("numInputRows"), longMetric("numOutputRows"))
    child.execute().mapPartitions(rows =>
      new LastRows(rows, terms, numInputRows).map { row => numOutputRows += 1; row })
  }

  override protected def withNewChildInternal(newChild: SparkPlan): LastRowPerKeyExec = copy(child = newChild)
}
