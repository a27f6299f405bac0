package org.apache.spark.sql.joinery

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.ExternalAppendOnlyUnsafeRowArray
import org.apache.spark.sql.internal.SQLConf

/** Rows kept in memory up to the limits that Spark's sort-merge join has, then spilled; read forwards, many times. */
class SpillingRows {
  private val rows = {
    val conf = SQLConf.get
    new ExternalAppendOnlyUnsafeRowArray(
      conf.sortMergeJoinExecBufferInMemoryThreshold,
      conf.sortMergeJoinExecBufferSpillSizeThreshold,
      conf.sortMergeJoinExecBufferSpillThreshold,
      conf.sortMergeJoinExecBufferSpillSizeThreshold)
  }

  def add(row: UnsafeRow): Unit = rows.add(row)
  def clear(): Unit = rows.clear()
  def spillSize: Long = rows.spillSize
  def iterator: Iterator[UnsafeRow] = rows.generateIterator()
}
