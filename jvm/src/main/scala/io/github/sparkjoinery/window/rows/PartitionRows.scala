package io.github.sparkjoinery.window.rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** The input of a task, partition of the window after partition, each in its order. */
private[window] trait PartitionRows {

  /**
   * Goes on to the next partition. Its rows are read by cursors, which are good until the partition after it. After the
   * last, what they took is free for the operators above.
   */
  def nextPartition(): Boolean

  /** How many rows the partition has. */
  def size: Int

  /** Bytes of the widest row, of those of the partition at least. */
  def widest: Int

  /** Reads the rows of the partition from a row on. */
  def cursor(from: Int): RowCursor

  /** When the task ends, be it early. */
  def close(): Unit
}

private[window] trait RowCursor {

  /** The next row, good until the one after it is asked for; or null. */
  def next(): UnsafeRow

  /** Has the next rows on their way to the cache, where they are far from each other. */
  def prefetch(count: Int): Unit = ()
}
