package io.github.sparkjoinery.window.runtime

import org.apache.spark.sql.catalyst.expressions._

import io.github.sparkjoinery.window.logical.program.WindowProgramPair
import io.github.sparkjoinery.window.runtime.frames.ResultRow
import io.github.sparkjoinery.window.runtime.rows.{PartitionRows, RowCursor}

/**
 * Computes one partition after the other, and returns each row with its results. It keeps columns in memory. If memory
 * runs out, it reads the rows of the partition instead, from the current row on.
 *
 * @param programs
 *   the programs of the window
 */
private[window] final class PartitionFrames(
    programs: WindowProgramPair,
    order: Seq[SortOrder],
    output: Seq[Attribute],
    rows: PartitionRows) {

  private val byColumns = new ColumnBatches(programs.byColumns, order, output, rows)
  private lazy val byRows = new ForwardBatches(programs.byRows, order, output, rows)
  private var batches: FrameBatches = _
  private var giving: RowCursor = _
  private var count = 0 // rows in the batch
  private var taken = 0 // rows of the batch that next() has returned
  private var isEnd = false

  var row: UnsafeRow = _
  var results: ResultRow = _

  def next(): Boolean = {
    while (taken == count) if (!nextBatch()) return false
    row = giving.next()
    results.moveTo(taken)
    taken += 1
    true
  }

  private def nextBatch(): Boolean = {
    taken = 0
    count = 0
    while (!isEnd && (batches == null || !advance())) {
      isEnd = !rows.nextPartition()
      if (isEnd) byColumns.giveUp() else begin()
    }
    if (!isEnd) {
      count = batches.count
      results = batches.results
    }
    !isEnd
  }

  /** Begins the current partition. */
  private def begin(): Unit = {
    giving = rows.cursor(0)
    byColumns.begin(0)
    batches = byColumns
  }

  private def advance(): Boolean = batches.next() || (batches eq byColumns) && byColumns.first < rows.size && {
    byColumns.giveUp()
    byRows.begin(byColumns.first)
    batches = byRows
    batches.next()
  }
}
