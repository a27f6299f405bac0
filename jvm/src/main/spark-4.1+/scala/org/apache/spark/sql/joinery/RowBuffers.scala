package org.apache.spark.sql.joinery

import org.apache.spark.sql.execution.ExternalAppendOnlyUnsafeRowArray
import org.apache.spark.sql.internal.SQLConf

/**
 * Spark's rows that spill, with the limits that its own operators give them. Spark 4.1 adds limits in bytes to those in
 * rows.
 */
private[joinery] object RowBuffers {
  private def conf = SQLConf.get

  def ofSortMergeJoin(rowsOnHeap: Int, bytesOnHeap: Long): ExternalAppendOnlyUnsafeRowArray =
    new ExternalAppendOnlyUnsafeRowArray(
      math.min(conf.sortMergeJoinExecBufferInMemoryThreshold, rowsOnHeap),
      math.min(conf.sortMergeJoinExecBufferSpillSizeThreshold, bytesOnHeap),
      conf.sortMergeJoinExecBufferSpillThreshold,
      conf.sortMergeJoinExecBufferSpillSizeThreshold
    )

  def windowSpillRows: Int = conf.windowExecBufferSpillThreshold
  def windowSpillBytes: Long = conf.windowExecBufferSpillSizeThreshold
}
