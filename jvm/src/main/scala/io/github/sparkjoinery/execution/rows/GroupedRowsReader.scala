package io.github.sparkjoinery.execution.rows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

/** One task's reader of the rows. The row it returns is overwritten by its next call. */
final class GroupedRowsReader(relation: GroupedRows, timeOrder: TimeOrder) {
  private val row = new UnsafeRow(relation.numFields)
  private val longKeys = relation.index match { case index: LongKeyIndex => index; case _ => null }
  private val rowKeys = relation.index match { case index: RowKeyIndex => index; case _ => null }
  private val keyScratch = if (rowKeys == null) null else rowKeys.scratch
  private val starts = relation.starts
  private val times = relation.times

  /** The number of a key; -1 if it is absent. */
  def group(key: Long): Int = longKeys.find(key)
  def group(key: UnsafeRow): Int = rowKeys.find(key, keyScratch)

  /** Positions of the first and the last row of a key. */
  def first(group: Int): Int = starts(group)
  def last(group: Int): Int = starts(group + 1) - 1

  /** The position of a key's last row up to a time, or before the time if `strict`; `first - 1` if there is none. */
  def lastUpTo(group: Int, time: Long): Int = {
    val (first, end) = (starts(group), starts(group + 1))
    // for longs, before t means up to t - 1
    if (timeOrder.strict && time == Long.MinValue) first - 1
    else InterpolationSearch.search(times, first, end, if (timeOrder.strict) time - 1 else time)
  }

  private lazy val timeOf = UnsafeProjection.create(Seq(timeOrder.order.child))
  private lazy val ordering = RowOrdering.create(
    Seq(timeOrder.order.copy(child = BoundReference(0, timeOrder.order.dataType, nullable = true))),
    Nil)

  /** The same for times that are not longs. */
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
