package io.github.sparkjoinery.rangejoin.runtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.joinery.{BuildMemory, DriverBuildMemory, ExecutionMemory, JoineryConf, TaskBuildMemory}

import io.github.sparkjoinery.rangejoin.logical.RangeLayout
import io.github.sparkjoinery.rangejoin.runtime.index.{RangeIndex, RangeIndexBuilder}

/**
 * Indexes the rows of a task as one index, or as several, one after the other, if memory is short. The rows of one
 * index are released when the next is built.
 */
private[rangejoin] class IndexParts(rows: Iterator[InternalRow], layout: RangeLayout) {
  private val memory = TaskBuildMemory(math.min(ExecutionMemory.shareOfTask, JoineryConf.rangeJoinMaxIndexPart))
  private var refused: UnsafeRow = _

  /** Bytes that a part may always take without accounting. Without them, the task could not go on. */
  private def least: Long = math.max(IndexParts.Least, math.min(IndexParts.Usual, JoineryConf.rangeJoinMaxIndexPart))

  /** True if some rows are in no part yet. */
  def hasNext: Boolean = refused != null || rows.hasNext

  /** The next part. It invalidates the previous one. */
  def next(): RangeIndex = {
    memory.release(memory.acquired)
    val built = build(memory)
    if (built != null) built
    else build(new DriverBuildMemory(least + 4L * refused.getSizeInBytes)) // a page may hold one row
  }

  /** The next index, or null if memory is too short for a single row. */
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
