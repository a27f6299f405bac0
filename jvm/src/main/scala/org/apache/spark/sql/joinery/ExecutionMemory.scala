package org.apache.spark.sql.joinery

import org.apache.spark.internal.config.{EXECUTOR_CORES, MEMORY_OFFHEAP_ENABLED, MEMORY_STORAGE_FRACTION}
import org.apache.spark.{SparkContext, SparkEnv, SparkMasterRegex}

/** Limits the memory of an operator that cannot spill. */
object ExecutionMemory {

  /**
   * The bytes that an operator may hold: 60 % of the task's fair share. The rest is for the other operators of the
   * task.
   */
  def shareOfTask: Long = {
    val (conf, manager) = (SparkEnv.get.conf, SparkEnv.get.memoryManager)
    val cores = if (conf.contains(EXECUTOR_CORES)) conf.get(EXECUTOR_CORES) else coresOf(conf.get("spark.master", ""))
    // memory that tasks hold now counts as shared among them, too
    val held = if (conf.get(MEMORY_OFFHEAP_ENABLED)) 0 else manager.executionMemoryUsed
    val total = manager.maxOnHeapStorageMemory + held
    // cached and broadcast blocks up to this size are not evicted for tasks
    val cached = math.min(manager.storageMemoryUsed, (total * conf.get(MEMORY_STORAGE_FRACTION)).toLong)
    ((total - cached) / math.max(cores, 1) * Share).toLong
  }

  /**
   * The cores of an executor if `spark.executor.cores` is not set; every core of the worker in a standalone cluster.
   */
  private[joinery] def coresOf(master: String): Int = master match {
    case "yarn" => 1
    case kubernetes if kubernetes.startsWith("k8s") => 1
    case SparkMasterRegex.LOCAL_CLUSTER_REGEX(_, cores, _) => cores.toInt
    case local if local.startsWith("local") => math.max(SparkContext.numDriverCores(local), 1)
    case _ => Runtime.getRuntime.availableProcessors
  }

  private val Share = 0.6
}
