package org.apache.spark.sql.joinery

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

import org.apache.spark.TaskContext
import org.apache.spark.memory.{MemoryConsumer, MemoryMode, TaskMemoryManager}

/**
 * Accounts for memory in a task. Spark's memory manager grants it, and may make other operators spill. A refused caller
 * has to continue in another way. The function of `giveBy` gives memory to other operators; until it is set, none is
 * given. The end of the task releases all of it.
 */
final class TaskBuildMemory private (manager: TaskMemoryManager, heldByTask: AtomicLong, limit: Long)
  extends MemoryConsumer(manager, MemoryMode.ON_HEAP) with BuildMemory {

  /** The most bytes held at the same time. */
  var peak = 0L

  @volatile private var give: Long => Long = (_: Long) => 0L

  override def acquire(bytes: Long): Boolean = bytes == 0 || {
    heldByTask.get + bytes <= limit && {
      val granted = acquireMemory(bytes)
      if (granted < bytes) freeMemory(granted) else heldByTask.addAndGet(bytes)
      peak = math.max(peak, acquired)
      granted >= bytes
    }
  }

  override def release(bytes: Long): Unit = {
    heldByTask.addAndGet(-bytes)
    freeMemory(bytes)
  }
  override def acquired: Long = getUsed
  override def giveBy(give: Long => Long): Unit = this.give = give
  override def spill(size: Long, trigger: MemoryConsumer): Long = if (trigger eq this) 0 else give(size)
}

object TaskBuildMemory {
  private val held = new ConcurrentHashMap[Long, AtomicLong] // task attempt id -> bytes

  /** @param limit most bytes that all instances of the task may hold together, checked when this one acquires memory */
  def apply(limit: Long = Long.MaxValue): TaskBuildMemory = {
    val context = TaskContext.get()
    val heldByTask = held.computeIfAbsent(context.taskAttemptId(), _ => new AtomicLong)
    val memory = new TaskBuildMemory(context.taskMemoryManager(), heldByTask, limit)
    context.addTaskCompletionListener[Unit] { context =>
      context.taskMetrics().incPeakExecutionMemory(memory.peak)
      memory.release(memory.acquired)
      held.remove(context.taskAttemptId())
    }
    memory
  }
}
