package io.github.sparkjoinery.window.runtime

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.joinery.{ExecutionMemory, SpillingSort}

import io.github.sparkjoinery.window.logical.program.{WindowProgramFactory, WindowProgramPair}
import io.github.sparkjoinery.window.runtime.frames.ResultRow
import io.github.sparkjoinery.window.runtime.rows.{IndexedPartitions, PartitionRows, SortedRows}

/** One task of a `SlidingWindow`. It takes in all rows, then returns each row with its results. */
final class WindowTask private[window] (
    programs: WindowProgramPair,
    keys: Seq[Expression],
    order: Seq[SortOrder],
    output: Seq[Attribute],
    metrics: WindowMetrics) {

  private var indexed =
    if (keys.forall(key => IndexedPartitions.isKey(key.dataType)))
      new IndexedPartitions(keys, order, output, ExecutionMemory.shareOfTask)
    else null
  private var sort: SpillingSort = _ // used if the rows do not fit in the index
  private var partitions: PartitionFrames = _

  def insert(row: UnsafeRow): Unit =
    if (indexed == null) sorting.insert(row)
    else if (!indexed.add(row)) {
      leaveIndex()
      sorting.insert(row)
    }

  /** Ends the input, and begins with the first partition. */
  def finish(): Unit = {
    val start = System.nanoTime()
    if (indexed != null && !indexed.sort()) leaveIndex()
    val rows = if (indexed != null) indexed else new SortedRows(sorting.sorted(), keys, output, metrics.spillSize)
    metrics.sortTime += (System.nanoTime() - start) / 1000000
    begin(rows)
  }

  /** Begins with rows that come sorted by key and order, instead of `insert` and `finish`. */
  def begin(sorted: Iterator[InternalRow]): Unit = begin(new SortedRows(sorted, keys, output, metrics.spillSize))

  private def begin(rows: PartitionRows): Unit = {
    partitions = new PartitionFrames(programs, order, output, rows)
    TaskContext.get().addTaskCompletionListener[Unit](_ => rows.close())
  }

  private def leaveIndex(): Unit = {
    val rows = indexed.drain()
    indexed = null
    rows.foreach(sorting.insert)
  }

  private def sorting: SpillingSort = {
    if (sort == null) {
      val terms = keys.map(SortOrder(_, Ascending)) ++ order
      val sorted = if (terms.isEmpty) Seq(SortOrder(Literal(0), Ascending)) else terms
      sort = new SpillingSort(sorted, output, metrics.spillSize)
    }
    sort
  }

  /** Moves to the next row. Returns false at the end. */
  def next(): Boolean = partitions.next()

  /** The current row, valid until `next`. */
  def row: UnsafeRow = partitions.row
  def results: ResultRow = partitions.results
}

/** The metrics of a `SlidingWindow`. */
private[window] case class WindowMetrics(sortTime: SQLMetric, spillSize: SQLMetric)

/** Creates the tasks of a window on the executors. */
case class WindowTaskFactory private[window] (
    programFactory: WindowProgramFactory,
    keys: Seq[Expression],
    order: Seq[SortOrder],
    output: Seq[Attribute],
    metrics: WindowMetrics) {
  def create(): WindowTask = new WindowTask(programFactory.forTask, keys, order, output, metrics)
}
