package org.apache.spark.sql.joinery

import java.util.Locale

import org.apache.spark.SparkEnv
import org.apache.spark.internal.config.{SHUFFLE_MANAGER, SHUFFLE_SORT_BYPASS_MERGE_THRESHOLD}

/** How Spark's tasks write what they shuffle. */
object ShuffleFiles {

  /** Up to how many partitions a task opens a file for each; None with a shuffle manager that is not Spark's own. */
  def mostOpened: Option[Int] = {
    val conf = SparkEnv.get.conf
    if (Set("sort", "tungsten-sort").contains(conf.get(SHUFFLE_MANAGER).toLowerCase(Locale.ROOT)))
      Some(conf.get(SHUFFLE_SORT_BYPASS_MERGE_THRESHOLD))
    else None
  }
}
