package io.github.sparkjoinery.rangejoin.runtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.BuildRight

/** Combines the rows of the two sides. A returned row is valid until the next call. */
private[rangejoin] class RangeJoinOutput(rangeJoin: RangeJoin) {
  import rangeJoin._

  private val joined = new JoinedRow
  private val indexedNulls = new GenericInternalRow(indexed.length)
  private val streamedNulls = new GenericInternalRow(streamed.length)
  private val flag = new GenericInternalRow(1)

  def sided(streamedRow: InternalRow, indexedRow: InternalRow): InternalRow =
    if (indexedSide == BuildRight) joined(streamedRow, indexedRow) else joined(indexedRow, streamedRow)

  /** A streamed row with NULLs for the indexed side. */
  def unmatched(streamedRow: InternalRow): InternalRow = sided(streamedRow, indexedNulls)
  def unmatchedIndexed(indexedRow: InternalRow): InternalRow = sided(streamedNulls, indexedRow)

  /** A row with one more column, which is true if the row has a match. */
  def flagged(row: InternalRow, exists: Boolean): InternalRow = {
    flag.setBoolean(0, exists)
    joined(row, flag)
  }

  /** The rows as the operator emits them. */
  def given(rows: Iterator[InternalRow]): Iterator[InternalRow] = {
    // An outer join puts NULLs in the place of a missing row, even into columns that are not nullable.
    val toUnsafe = UnsafeProjection.create(output, output.map(_.withNullability(true)))
    val numOutputRows = metrics.get(RangeJoin.OutputRows)
    rows.map { row =>
      numOutputRows.foreach(_ += 1)
      toUnsafe(row)
    }
  }
}
