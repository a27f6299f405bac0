package io.github.sparkjoinery.rangejoin.exec

import org.apache.spark.SparkException
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, BindReferences, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.{SQLExecution, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.joinery.{CustomBroadcastRows, RunSubplan}

import io.github.sparkjoinery.rangejoin.logical.RangeLayout
import io.github.sparkjoinery.rangejoin.runtime.IndexParts
import io.github.sparkjoinery.rangejoin.runtime.index.{PrebuiltIndex, RangeRun, RangeRunMerge}

/**
 * Sorts the indexed side of a range join without keys, below the broadcast. If a broadcast collects the rows, tasks
 * evaluate the bounds and sort the rows, so that the driver only merges them. All other readers get the rows unchanged.
 *
 * Memory: each task holds one part of its rows at a time, as in [[IndexParts]], and all rows compressed, as Spark does
 * to collect rows.
 *
 * @param start
 *   the sort key: a point, or the start of an interval
 * @param end
 *   the end of an interval; None for points
 * @param keepsAll
 *   true if rows that cannot match are kept
 */
case class SortForRangeIndexExec(start: Expression, end: Option[Expression], keepsAll: Boolean, child: SparkPlan)
  extends UnaryExecNode with CustomBroadcastRows {

  override def nodeName: String = "SortForRangeIndex"
  override lazy val metrics: Map[String, SQLMetric] =
    Map("runs" -> SQLMetrics.createMetric(sparkContext, "sorted runs"))
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering
  override protected def doExecute(): RDD[InternalRow] = child.execute()

  override protected def collected(): (Long, Iterator[InternalRow]) = {
    val layout = RangeLayout(
      keys = Nil,
      BindReferences.bindReference(start, output),
      end.map(BindReferences.bindReference(_, output)),
      keepsAll,
      output.length)
    val rows = child.execute()
    try {
      val runs = rows.mapPartitions(SortForRangeIndexExec.runs(_, layout)).collect()
      longMetric("runs").set(runs.length)
      val query = sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
      SQLMetrics.postDriverMetricUpdates(sparkContext, query, metrics.values.toSeq)
      (runs.map(_.rowsRead).sum, new RangeRunMerge(runs.toSeq, output.length))
    } catch {
      case tooLarge: SparkException if SortForRangeIndexExec.isOfResultSize(tooLarge) =>
        (RunSubplan.count(rows), new PrebuiltIndex(None))
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): SortForRangeIndexExec = copy(child = newChild)
}

private[rangejoin] object SortForRangeIndexExec {

  /** True if the tasks' results exceeded `spark.driver.maxResultSize`. The error has no class that says so. */
  def isOfResultSize(error: SparkException): Boolean = error.getMessage.contains("spark.driver.maxResultSize")

  /** The rows of a task as sorted runs, one for each part. */
  def runs(rows: Iterator[InternalRow], layout: RangeLayout): Iterator[RangeRun] = {
    var read = 0L
    val parts = new IndexParts(rows.map { row => read += 1; row }, layout)
    new Iterator[RangeRun] {
      override def hasNext: Boolean = parts.hasNext
      override def next(): RangeRun = {
        val before = read
        val index = parts.next()
        RangeRun(index, read - before)
      }
    }
  }
}
