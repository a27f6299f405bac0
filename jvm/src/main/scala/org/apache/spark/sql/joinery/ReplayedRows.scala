package org.apache.spark.sql.joinery

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.ExternalAppendOnlyUnsafeRowArray
import org.apache.spark.sql.internal.SQLConf

/** Rows kept to be read several times, by the rules of Spark's window operator (`spark.sql.windowExec.buffer.*`): on the heap, else spilled. */
class ReplayedRows {
  private val rows = {
    val conf = SQLConf.get
    new ExternalAppendOnlyUnsafeRowArray(
      conf.windowExecBufferInMemoryThreshold,
      conf.windowExecBufferSpillSizeThreshold,
      conf.windowExecBufferSpillThreshold,
      conf.windowExecBufferSpillSizeThreshold)
  }

  def add(row: UnsafeRow): Unit = rows.add(row)
  def clear(): Unit = rows.clear()
  def spillSize: Long = rows.spillSize
  def iterator(from: Int): Iterator[UnsafeRow] = rows.generateIterator(from)
}
