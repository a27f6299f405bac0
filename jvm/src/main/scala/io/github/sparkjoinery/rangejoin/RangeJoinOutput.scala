package io.github.sparkjoinery.rangejoin

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.BuildRight

/** Puts the rows of the two sides together; what it returns is good until it is asked again. */
private[rangejoin] class RangeJoinOutput(rangeJoin: RangeJoin) {
  import rangeJoin._

  private val joined = new JoinedRow
  private val indexedNulls = new GenericInternalRow(indexed.length)
  private val streamedNulls = new GenericInternalRow(streamed.length)
  private val flag = new GenericInternalRow(1)

  def sided(streamedRow: InternalRow, indexedRow: InternalRow): InternalRow =
    if (indexedSide == BuildRight) joined(streamedRow, indexedRow) else joined(indexedRow, streamedRow)

  /** A row beside NULLs. */
  def unmatched(streamedRow: InternalRow): InternalRow = sided(streamedRow, indexedNulls)
  def unmatchedIndexed(indexedRow: InternalRow): InternalRow = sided(streamedNulls, indexedRow)

  /** A row and whether it has a match. */
  def flagged(row: InternalRow, exists: Boolean): InternalRow = {
    flag.setBoolean(0, exists)
    joined(row, flag)
  }

  /** Rows as the operator gives them out. */
  def given(rows: Iterator[InternalRow]): Iterator[InternalRow] = {
    // What an outer join has no row for is NULL, whatever the side's own columns say.
    val toUnsafe = UnsafeProjection.create(output, output.map(_.withNullability(true)))
    val numOutputRows = metrics.get(RangeJoin.OutputRows)
    rows.map { row =>
      numOutputRows.foreach(_ += 1)
      toUnsafe(row)
    }
  }
}
