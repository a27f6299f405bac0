package io.github.sparkjoinery.window.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.metric.SQLMetrics
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan, UnaryExecNode}

import io.github.sparkjoinery.window.logical.{CopyRows, HotKey}
import io.github.sparkjoinery.window.runtime.RowCopyIterator

/**
 * Executes [[CopyRows]]. It writes the part into the row, which the projection below it owns, and emits the row once
 * for each part. Nothing is copied in memory, and no row is kept.
 *
 * @param child
 *   a plan whose last column is the part
 */
case class CopyRowsExec(
    keyHash: Expression,
    time: Expression,
    nullTime: Long,
    hotKeys: Expression,
    source: String,
    child: SparkPlan)
  extends UnaryExecNode {
  override def nodeName: String = "CopyRows"
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering
  override def simpleString(maxFields: Int): String = s"$nodeName $keyHash, $time, $source"

  override lazy val metrics = Map("numCopies" -> SQLMetrics.createMetric(sparkContext, "number of copied rows"))

  override protected def doExecute(): RDD[InternalRow] = {
    val (found, numCopies) = (HotKey.ofValue(hotKeys.eval()), longMetric("numCopies"))
    val (terms, columns, valueOfNull) = (Seq(keyHash, time), child.output, nullTime)
    child.execute().mapPartitions(new RowCopyIterator(_, terms, columns, valueOfNull, found.toArray, numCopies))
  }

  override protected def withNewChildInternal(newChild: SparkPlan): CopyRowsExec = copy(child = newChild)
}

private[window] object CopyRowsExec {
  def plan(copies: CopyRows, child: SparkPlan): SparkPlan = {
    val part = Alias(Literal(0), copies.part.name)(copies.part.exprId)
    CopyRowsExec(
      copies.keyHash,
      copies.time,
      copies.nullTime,
      copies.hotKeys,
      copies.source,
      ProjectExec(child.output :+ part, child))
  }
}
