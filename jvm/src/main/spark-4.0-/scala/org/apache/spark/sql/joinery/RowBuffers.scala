package org.apache.spark.sql.joinery

import org.apache.spark.sql.execution.ExternalAppendOnlyUnsafeRowArray
import org.apache.spark.sql.internal.SQLConf

/**
 * Spark's rows that spill, with the limits that its own operators give them. Limits in bytes come with Spark 4.1:
 * before, only having none on the heap keeps to `bytesOnHeap`.
 */
private[joinery] object RowBuffers {
  def ofSortMergeJoin(rowsOnHeap: Int, bytesOnHeap: Long): ExternalAppendOnlyUnsafeRowArray =
    new ExternalAppendOnlyUnsafeRowArray(0, SQLConf.get.sortMergeJoinExecBufferSpillThreshold)

  def windowSpillRows: Int = SQLConf.get.windowExecBufferSpillThreshold
  def windowSpillBytes: Long = Long.MaxValue
}
