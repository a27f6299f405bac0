package org.apache.spark.sql.joinery

import org.apache.spark.TaskContext
import org.apache.spark.memory.MemoryConsumer
import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * The sorts that one operator of a task fills at the same time. Spark's `UnsafeExternalSorter.spill` gives nothing to
 * other consumers while the sorter is being filled, so several of them would starve each other and the task's shuffle
 * writer. This consumer, which holds one byte, is asked in their place and spills the largest sort.
 *
 * @param spillSize
 *   metric of spilled bytes
 */
final class SpillingSorts(val spillSize: SQLMetric)
  extends MemoryConsumer(
    TaskContext.get().taskMemoryManager(),
    TaskContext.get().taskMemoryManager().getTungstenMemoryMode) {
  private var thread: Thread = _ // the thread that adds rows; it may be the writer thread of a Python worker
  private var filling = List.empty[SpillingSort]

  private[joinery] def begin(sort: SpillingSort): Unit = {
    thread = Thread.currentThread
    if (getUsed == 0) acquireMemory(1)
    filling ::= sort
  }

  private[joinery] def end(sort: SpillingSort): Unit = filling = filling.filter(_ ne sort)

  /**
   * Spills the largest sort, on request of another consumer. If the largest sort itself asks, it returns 0, so that the
   * sort spills its own rows into one large file.
   */
  override def spill(size: Long, trigger: MemoryConsumer): Long =
    if (Thread.currentThread ne thread) 0 // the other thread may be adding a row
    else filling.maxByOption(_.held).fold(0L)(_.giveTo(trigger))
}
