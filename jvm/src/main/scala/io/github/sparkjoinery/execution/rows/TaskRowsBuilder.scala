package io.github.sparkjoinery.execution.rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.joinery.{ExecutionMemory, TaskBuildMemory}

/**
 * A [[GroupedRowsBuilder]] that shares its task's memory with other operators. It uses only a part of the memory. If
 * another operator still runs out while rows are being added, the builder takes no further rows and spills as many as
 * needed.
 */
private[sparkjoinery] final class TaskRowsBuilder(terms: RowGrouping) {
  private val memory = TaskBuildMemory(ExecutionMemory.shareOfTask)
  private val thread = Thread.currentThread
  private var builder: GroupedRowsBuilder = _
  private var drained: ReleasingRows = _
  begin()

  /** Starts over with an empty builder, after all rows of `drain` have been read. */
  def begin(): Unit = {
    drained = null
    builder = new GroupedRowsBuilder(terms, memory)
    memory.giveBy(give)
  }

  /** @return false if the row was not taken; the builder is then unchanged */
  def add(row: UnsafeRow): Boolean = builder != null && builder.add(row)

  /** The number of keys; 0 if another operator has claimed the memory. */
  def numKeys: Int = if (builder == null) 0 else builder.numKeys

  /** @return null if there is no memory; the caller then uses `drain` */
  def result(): GroupedRows = {
    val built = if (builder == null) null else builder.result()
    if (built != null) memory.giveBy(_ => 0) // the rows are in use from now on and cannot be spilled
    built
  }

  /** The rows added so far, in no order. No row can be added afterwards. */
  def drain(): Iterator[UnsafeRow] = {
    if (builder != null) {
      drained = builder.drain()
      builder = null
    }
    drained
  }

  /**
   * Gives memory to another operator. Returns 0 on another thread, where the builder may be in the middle of a change.
   */
  private def give(bytes: Long): Long = if (Thread.currentThread ne thread) 0
  else {
    val before = memory.acquired
    drain()
    val given = before - memory.acquired
    if (given < bytes) given + drained.give(bytes - given) else given
  }
}
