package io.github.sparkjoinery.execution.rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.joinery.{ExecutionMemory, TaskBuildMemory}

/**
 * A [[GroupedRowsBuilder]] in a task with other operators. It leaves them a part of the task's memory; and while rows
 * are being added, one that could not go on otherwise gets more: then no further rows are taken, and those that were
 * taken go to disk as far as need be.
 */
private[sparkjoinery] final class TaskRowsBuilder(terms: RowGrouping) {
  private val memory = TaskBuildMemory(ExecutionMemory.shareOfTask)
  private val thread = Thread.currentThread
  private var builder: GroupedRowsBuilder = _
  private var drained: DrainedRows = _
  begin()

  /** Begins anew, after the last of `drain`. */
  def begin(): Unit = {
    drained = null
    builder = new GroupedRowsBuilder(terms, memory)
    memory.giveBy(give)
  }

  /** @return whether the row was taken; if not, everything is as it was before */
  def add(row: UnsafeRow): Boolean = builder != null && builder.add(row)

  /** Of the rows that were taken; 0 if their memory was wanted elsewhere. */
  def numKeys: Int = if (builder == null) 0 else builder.numKeys

  /** @return null if there is no memory for it; then there is `drain` */
  def result(): GroupedRows = {
    val built = if (builder == null) null else builder.result()
    if (built != null) memory.giveBy(_ => 0) // it is in use from now on
    built
  }

  /** The rows that were taken, and kept, in no order. Nothing is added afterwards. */
  def drain(): Iterator[UnsafeRow] = {
    if (builder != null) {
      drained = builder.drain()
      builder = null
    }
    drained
  }

  /** In another thread the builder might be changing at this moment. */
  private def give(bytes: Long): Long = if (Thread.currentThread ne thread) 0
  else {
    val before = memory.acquired
    drain()
    val given = before - memory.acquired
    if (given < bytes) given + drained.give(bytes - given) else given
  }
}
