package org.apache.spark.sql.joinery

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Rows read forwards, many times. The first few are on the heap, in memory acquired for the purpose, or only a handful
 * where there is none; beyond them all are in memory that Spark's memory manager grants, or spilled when it does not.
 * (By default Spark's own sort-merge join keeps all on the heap.) The limits of that join,
 * `spark.sql.sortMergeJoinExec.buffer.*`, hold here too where they are lower.
 */
class SpillingRows {
  private val rows = {
    val (fewRows, fewBytes) =
      if (TaskBuildMemory().acquire(SpillingRows.BytesOnHeap)) (SpillingRows.RowsOnHeap, SpillingRows.BytesOnHeap)
      else (SpillingRows.Handful, SpillingRows.BytesOfHandful)
    RowBuffers.ofSortMergeJoin(fewRows, fewBytes)
  }

  def add(row: UnsafeRow): Unit = rows.add(row)
  def clear(): Unit = rows.clear()
  def spillSize: Long = rows.spillSize

  /** The first row that passes, or null; good until the next call. */
  def find(passes: UnsafeRow => Boolean): UnsafeRow = {
    val all = rows.generateIterator()
    if (spillSize == 0) return all.find(passes).orNull
    // A reader of spilled rows gives back its buffers, of megabytes, at its end only: read to there.
    var found: UnsafeRow = null
    all.foreach(row => if (found == null && passes(row)) found = row.copy())
    found
  }
}

private object SpillingRows {
  val RowsOnHeap = 4096
  val BytesOnHeap: Long = 1L << 20
  val Handful = 64
  val BytesOfHandful: Long = 64L << 10
}
