package io.github.sparkjoinery.execution.rows

import org.apache.spark.sql.execution.joinery.BroadcastRelation

/**
 * Rows in memory, grouped by key and ordered within each key. Their times are in an array of their own, so a search
 * reads no row. Immutable; if broadcast, all tasks of an executor share it.
 *
 * @param starts
 *   key number -> position of its first row; one more entry at the end
 * @param addresses
 *   position -> address of the row
 * @param times
 *   position -> time as a long; null if times are not longs
 */
final class GroupedRows private[sparkjoinery] (
    val numFields: Int,
    val index: KeyIndex,
    private[sparkjoinery] val pages: RowPages,
    private[sparkjoinery] val starts: Array[Int],
    private[sparkjoinery] val addresses: Array[Long],
    private[sparkjoinery] val times: Array[Long]) extends BroadcastRelation with Serializable {

  def numRows: Int = starts(index.size)

  override def estimatedSize: Long =
    pages.bytes + index.bytes + starts.length * 4L + addresses.length * 8L + (if (times == null) 0
                                                                              else times.length * 8L)

  /** @param timeOrder how times are compared; null if they are not searched */
  def reader(timeOrder: TimeOrder): GroupedRowsReader = new GroupedRowsReader(this, timeOrder)
}
