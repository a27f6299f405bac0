package org.apache.spark.sql.joinery

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Rows kept to be read several times, by the rules of Spark's window operator (`spark.sql.windowExec.buffer.*`): on the heap, else spilled. */
class ReplayedRows {
  private val rows = RowBuffers.ofWindow()

  def add(row: UnsafeRow): Unit = rows.add(row)
  def clear(): Unit = rows.clear()
  def spillSize: Long = rows.spillSize
  def iterator(from: Int): Iterator[UnsafeRow] = rows.generateIterator(from)
}
