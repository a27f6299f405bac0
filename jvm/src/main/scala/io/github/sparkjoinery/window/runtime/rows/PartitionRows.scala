package io.github.sparkjoinery.window.runtime.rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** The input of a task, one window partition after the other, each in its order. */
private[window] trait PartitionRows {

  /**
   * Advances to the next partition. Its rows are read by cursors, which are valid until the partition after it. After
   * the last partition, the operators above can use its memory.
   */
  def nextPartition(): Boolean

  /** The number of rows in the partition. */
  def size: Int

  /** Bytes of the widest row, at least of those in the partition. */
  def widest: Int

  /** Reads the rows of the partition from a row on. */
  def cursor(from: Int): RowCursor

  /** Called when the task ends, early or not. */
  def close(): Unit
}

private[window] trait RowCursor {

  /** The next row, valid until the following call, or null. */
  def next(): UnsafeRow

  /** Starts to load the next rows into the cache, if they are far from each other. */
  def prefetch(count: Int): Unit = ()
}
