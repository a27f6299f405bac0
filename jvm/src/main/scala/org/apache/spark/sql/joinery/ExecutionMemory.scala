package org.apache.spark.sql.joinery

import org.apache.spark.{SparkContext, SparkEnv}
import org.apache.spark.internal.config.EXECUTOR_CORES

/** How much of an executor's memory an operator may hold that cannot spill it. */
object ExecutionMemory {

  /** Bytes: of a task's fair share, so much that operators above find room for theirs. */
  def shareOfTask: Long = {
    val env = SparkEnv.get
    val cores = if (env.conf.contains(EXECUTOR_CORES)) env.conf.get(EXECUTOR_CORES) else localCores(env.conf.get("spark.master", ""))
    (env.memoryManager.maxOnHeapStorageMemory / math.max(cores, 1) * Share).toLong
  }

  private def localCores(master: String): Int = math.max(SparkContext.numDriverCores(master), 1)

  private val Share = 0.6
}
