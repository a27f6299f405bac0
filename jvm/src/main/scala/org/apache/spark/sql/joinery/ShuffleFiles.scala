package org.apache.spark.sql.joinery

import java.util.Locale

import org.apache.spark.SparkEnv
import org.apache.spark.internal.config.{SHUFFLE_MANAGER, SHUFFLE_SORT_BYPASS_MERGE_THRESHOLD}

/** Tells how Spark's tasks write their shuffle output. */
object ShuffleFiles {

  /** The most partitions for which a task opens one file each; None if the shuffle manager is not Spark's own. */
  def mostOpened: Option[Int] = {
    val conf = SparkEnv.get.conf
    if (Set("sort", "tungsten-sort").contains(conf.get(SHUFFLE_MANAGER).toLowerCase(Locale.ROOT)))
      Some(conf.get(SHUFFLE_SORT_BYPASS_MERGE_THRESHOLD))
    else None
  }
}
