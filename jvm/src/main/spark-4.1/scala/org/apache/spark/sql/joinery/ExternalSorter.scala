package org.apache.spark.sql.joinery

import java.util.function.Supplier

import org.apache.spark.internal.config._
import org.apache.spark.util.collection.unsafe.sort.{PrefixComparator, RecordComparator, UnsafeExternalSorter}
import org.apache.spark.{SparkEnv, TaskContext}

/**
 * Creates Spark's external sort with the session's settings. From Spark 4.1 on it also spills after a number of bytes.
 */
private[joinery] object ExternalSorter {
  def create(
      order: Supplier[RecordComparator],
      prefixes: PrefixComparator,
      pageBytes: Long,
      byPrefixAlone: Boolean): UnsafeExternalSorter = {
    val (env, context) = (SparkEnv.get, TaskContext.get())
    UnsafeExternalSorter.create(
      context.taskMemoryManager(),
      env.blockManager,
      env.serializerManager,
      context,
      order,
      prefixes,
      env.conf.get(SHUFFLE_SORT_INIT_BUFFER_SIZE).toInt,
      pageBytes,
      env.conf.get(SHUFFLE_SPILL_NUM_ELEMENTS_FORCE_SPILL_THRESHOLD),
      env.conf.get(SHUFFLE_SPILL_MAX_SIZE_FORCE_SPILL_THRESHOLD),
      byPrefixAlone
    )
  }
}
