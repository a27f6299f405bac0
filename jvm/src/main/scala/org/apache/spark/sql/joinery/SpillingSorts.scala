package org.apache.spark.sql.joinery

import org.apache.spark.TaskContext
import org.apache.spark.memory.MemoryConsumer
import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * Sorts of one operator in a task that take rows at the same time. Spark's external sort gives no memory to others
 * before its last row, as Spark fills one sort at a time: several would starve each other, and what shuffles their
 * task's rows. This consumer, of one byte, is asked in their place, and spills the largest.
 *
 * @param spillSize
 *   is told what was spilled, in bytes
 */
final class SpillingSorts(val spillSize: SQLMetric)
  extends MemoryConsumer(
    TaskContext.get().taskMemoryManager(),
    TaskContext.get().taskMemoryManager().getTungstenMemoryMode) {
  private var thread: Thread = _ // which may be that of a Python worker's writer, not the one that made this
  private var filling = List.empty[SpillingSort]

  private[joinery] def begin(sort: SpillingSort): Unit = {
    thread = Thread.currentThread
    if (getUsed == 0) acquireMemory(1)
    filling ::= sort
  }

  private[joinery] def end(sort: SpillingSort): Unit = filling = filling.filter(_ ne sort)

  /** A sort that is the largest itself is left to spill: then each file is as large as it can be. */
  override def spill(size: Long, trigger: MemoryConsumer): Long =
    if (Thread.currentThread ne thread) 0 // they may be taking a row
    else filling.maxByOption(_.held).fold(0L)(_.giveTo(trigger))
}
