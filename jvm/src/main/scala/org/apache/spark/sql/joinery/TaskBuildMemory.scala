package org.apache.spark.sql.joinery

import org.apache.spark.TaskContext
import org.apache.spark.memory.{MemoryConsumer, MemoryMode, TaskMemoryManager}

import io.github.sparkjoinery.execution.rows.BuildMemory

/**
 * In a task: Spark's memory manager decides, and may make others spill. What was acquired is given back when the task ends.
 * It cannot spill itself; who is refused goes on in another way.
 */
final class TaskBuildMemory(manager: TaskMemoryManager) extends MemoryConsumer(manager, MemoryMode.ON_HEAP) with BuildMemory {

  /** The most that was held at a time. */
  var peak = 0L

  override def acquire(bytes: Long): Boolean = bytes == 0 || {
    val granted = acquireMemory(bytes)
    if (granted < bytes) freeMemory(granted)
    peak = math.max(peak, acquired)
    granted >= bytes
  }

  override def release(bytes: Long): Unit = freeMemory(bytes)
  override def acquired: Long = getUsed
  override def spill(size: Long, trigger: MemoryConsumer): Long = 0
}

object TaskBuildMemory {
  def apply(): TaskBuildMemory = {
    val context = TaskContext.get()
    val memory = new TaskBuildMemory(context.taskMemoryManager())
    context.addTaskCompletionListener[Unit] { context =>
      context.taskMetrics().incPeakExecutionMemory(memory.peak)
      memory.release(memory.acquired)
    }
    memory
  }
}
