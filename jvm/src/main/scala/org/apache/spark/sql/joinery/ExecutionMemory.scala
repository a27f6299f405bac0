package org.apache.spark.sql.joinery

import org.apache.spark.internal.config.{EXECUTOR_CORES, MEMORY_OFFHEAP_ENABLED, MEMORY_STORAGE_FRACTION}
import org.apache.spark.{SparkContext, SparkEnv, SparkMasterRegex}

/** How much of an executor's memory an operator may hold that cannot spill it. */
object ExecutionMemory {

  /** Bytes: of a task's fair share, so much that operators above find room for theirs. */
  def shareOfTask: Long = {
    val (conf, manager) = (SparkEnv.get.conf, SparkEnv.get.memoryManager)
    val cores = if (conf.contains(EXECUTOR_CORES)) conf.get(EXECUTOR_CORES) else coresOf(conf.get("spark.master", ""))
    // what all tasks hold now is theirs to share, too
    val held = if (conf.get(MEMORY_OFFHEAP_ENABLED)) 0 else manager.executionMemoryUsed
    val total = manager.maxOnHeapStorageMemory + held
    // blocks that are cached, or broadcast, need not give way to tasks
    val cached = math.min(manager.storageMemoryUsed, (total * conf.get(MEMORY_STORAGE_FRACTION)).toLong)
    ((total - cached) / math.max(cores, 1) * Share).toLong
  }

  /** The cores of an executor where no setting says how many: in a standalone cluster, all that its worker has. */
  private[joinery] def coresOf(master: String): Int = master match {
    case "yarn" => 1
    case kubernetes if kubernetes.startsWith("k8s") => 1
    case SparkMasterRegex.LOCAL_CLUSTER_REGEX(_, cores, _) => cores.toInt
    case local if local.startsWith("local") => math.max(SparkContext.numDriverCores(local), 1)
    case _ => Runtime.getRuntime.availableProcessors
  }

  private val Share = 0.6
}
