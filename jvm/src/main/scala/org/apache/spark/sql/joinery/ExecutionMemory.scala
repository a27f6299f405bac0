package org.apache.spark.sql.joinery

import org.apache.spark.internal.config.{EXECUTOR_CORES, MEMORY_OFFHEAP_ENABLED, MEMORY_STORAGE_FRACTION}
import org.apache.spark.{SparkContext, SparkEnv}

/** How much of an executor's memory an operator may hold that cannot spill it. */
object ExecutionMemory {

  /** Bytes: of a task's fair share, so much that operators above find room for theirs. */
  def shareOfTask: Long = {
    val (conf, manager) = (SparkEnv.get.conf, SparkEnv.get.memoryManager)
    val cores =
      if (conf.contains(EXECUTOR_CORES)) conf.get(EXECUTOR_CORES) else localCores(conf.get("spark.master", ""))
    // what all tasks hold now is theirs to share, too
    val held = if (conf.get(MEMORY_OFFHEAP_ENABLED)) 0 else manager.executionMemoryUsed
    val total = manager.maxOnHeapStorageMemory + held
    // blocks that are cached, or broadcast, need not give way to tasks
    val cached = math.min(manager.storageMemoryUsed, (total * conf.get(MEMORY_STORAGE_FRACTION)).toLong)
    ((total - cached) / math.max(cores, 1) * Share).toLong
  }

  private def localCores(master: String): Int = math.max(SparkContext.numDriverCores(master), 1)

  private val Share = 0.6
}
