package io.github.sparkjoinery.execution.rows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.joinery.ShippedRelation

/**
 * Rows in memory: key after key, each key's rows in their order, with their times in an array of their own, so that a
 * search touches no row. Read-only; shared by the tasks of an executor when broadcast.
 *
 * @param starts
 *   key number -> place of its first row; one more at the end
 * @param addresses
 *   place -> row
 * @param times
 *   place -> the time as a long; null if it is none
 */
final class GroupedRows private[sparkjoinery] (
    val numFields: Int,
    val index: KeyIndex,
    private[sparkjoinery] val pages: RowPages,
    private[sparkjoinery] val starts: Array[Int],
    private[sparkjoinery] val addresses: Array[Long],
    private[sparkjoinery] val times: Array[Long]) extends ShippedRelation with Serializable {

  def numRows: Int = starts(index.size)

  override def estimatedSize: Long =
    pages.bytes + index.bytes + starts.length * 4L + addresses.length * 8L + (if (times == null) 0
                                                                              else times.length * 8L)

  /** @param timeOrder how times are searched; null: they are not */
  def reader(timeOrder: TimeOrder): GroupedRowsReader = new GroupedRowsReader(this, timeOrder)
}

/** One task's view of the rows; what it returns is good until it is asked again. */
final class GroupedRowsReader(relation: GroupedRows, timeOrder: TimeOrder) {
  private val row = new UnsafeRow(relation.numFields)
  private val longKeys = relation.index match { case index: LongKeyIndex => index; case _ => null }
  private val rowKeys = relation.index match { case index: RowKeyIndex => index; case _ => null }
  private val keyScratch = if (rowKeys == null) null else rowKeys.scratch
  private val starts = relation.starts
  private val times = relation.times

  /** Number of a key, or -1. */
  def group(key: Long): Int = longKeys.find(key)
  def group(key: UnsafeRow): Int = rowKeys.find(key, keyScratch)

  /** Places of a key's first and last row. */
  def first(group: Int): Int = starts(group)
  def last(group: Int): Int = starts(group + 1) - 1

  /** Place of a key's last row up to a time (before it, if strict); one before `first` if there is none. */
  def lastUpTo(group: Int, time: Long): Int = {
    val (first, end) = (starts(group), starts(group + 1))
    // whole numbers: before t is up to t - 1
    if (timeOrder.strict && time == Long.MinValue) first - 1
    else LastUpTo.search(times, first, end, if (timeOrder.strict) time - 1 else time)
  }

  private lazy val timeOf = UnsafeProjection.create(Seq(timeOrder.order.child))
  private lazy val ordering = RowOrdering.create(
    Seq(timeOrder.order.copy(child = BoundReference(0, timeOrder.order.dataType, nullable = true))),
    Nil)

  /** The same where times are not longs. */
  def lastUpTo(group: Int, time: InternalRow): Int = {
    var low = starts(group)
    var high = starts(group + 1)
    while (low < high) {
      val middle = (low + high) >>> 1
      val order = ordering.compare(timeOf(row(middle)), time)
      if (order < 0 || order == 0 && !timeOrder.strict) low = middle + 1 else high = middle
    }
    low - 1
  }

  def row(place: Int): UnsafeRow = relation.pages.read(relation.addresses(place), row)
}
