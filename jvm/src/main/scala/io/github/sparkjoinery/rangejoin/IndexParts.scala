package io.github.sparkjoinery.rangejoin

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.joinery.{BuildMemory, DriverBuildMemory, ExecutionMemory, JoineryConf, TaskBuildMemory}

import io.github.sparkjoinery.rangejoin.index.{RangeIndex, RangeIndexBuilder, RangeLayout}

/**
 * The indexed rows of a task, as one index, or, where memory is short, as several, one after the other: the rows of one
 * are forgotten when the next is built.
 */
private[rangejoin] class IndexParts(rows: Iterator[InternalRow], layout: RangeLayout) {
  private val memory = TaskBuildMemory(math.min(ExecutionMemory.shareOfTask, JoineryConf.rangeJoinMaxIndexPart))
  private var refused: UnsafeRow = _

  /** Bytes that a part may always have, unaccounted for, or nothing would go on. */
  private def least: Long = math.max(IndexParts.Least, math.min(IndexParts.Usual, JoineryConf.rangeJoinMaxIndexPart))

  /** Whether there are rows that are in no part yet. */
  def hasNext: Boolean = refused != null || rows.hasNext

  /** The next part; what was returned before is good no longer. */
  def next(): RangeIndex = {
    memory.release(memory.acquired)
    val built = build(memory)
    if (built != null) built
    else build(new DriverBuildMemory(least + 4L * refused.getSizeInBytes)) // as a row's page may be the row alone
  }

  /** @return null if there is no memory for a single row */
  private def build(memory: BuildMemory): RangeIndex = {
    val builder = new RangeIndexBuilder(layout, memory, reserves = true)
    var isFull = false
    if (refused != null) {
      isFull = !builder.add(refused)
      if (!isFull) refused = null
    }
    while (!isFull && rows.hasNext) {
      val row = rows.next().asInstanceOf[UnsafeRow]
      isFull = !builder.add(row)
      if (isFull) refused = row.copy()
    }
    if (isFull && builder.numRows == 0) null else builder.result()
  }
}

private object IndexParts {
  private val Least = 40L << 10 // a page of rows, one of keys, and the least arrays
  private val Usual = 1L << 20
}
