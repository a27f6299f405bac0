package io.github.sparkjoinery.execution.rows

import java.util.Comparator

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.joinery.BuildMemory

/** Builds [[GroupedRows]] from rows in any order. Rows with a NULL key or a NULL time are skipped. */
class GroupedRowsBuilder(terms: RowGrouping, memory: BuildMemory) {
  private val pages = new RowPages(memory)
  private val probe = new RowProbe(terms)
  private var longKeys = new LongKeyIndex(memory)
  private var rowKeys = new RowKeyIndex(terms.keys.length, memory)
  private val keyScratch = rowKeys.scratch
  private val rowScratch = new UnsafeRow(terms.numFields)

  // one entry per row; one entry per key if `onlyLast`
  private var groups = new Array[Int](if (terms.onlyLast) 0 else GroupedRowsBuilder.Smallest)
  private var addresses = new Array[Long](GroupedRowsBuilder.Smallest)
  private var times = new Array[Long](GroupedRowsBuilder.Smallest)
  private var count = 0

  /** @return false if there is no memory for the row; the builder is then unchanged, and smaller rows may still fit */
  def add(row: UnsafeRow): Boolean = {
    probe.look(row)
    if (probe.matchesNothing) return true
    val keysBefore = numKeys
    val group = if (probe.hasLongKey) longKeys.add(probe.longKey) else rowKeys.add(probe.rowKey, keyScratch)
    if (group == KeyIndex.NoMemory) return false
    val isNew = numKeys > keysBefore
    val added = if (isNew || !terms.onlyLast) append(group, row) else !isAfter(row, group) || replace(group, row)
    if (!added && isNew) removeLastKey() // else the key's number would point to the row of another key
    added
  }

  private def removeLastKey(): Unit = if (probe.hasLongKey) longKeys.removeLast(probe.longKey) else rowKeys.removeLast()

  private def isAfter(row: UnsafeRow, group: Int): Boolean =
    probe.time > times(group) ||
      probe.time == times(group) && probe.fullOrder != null && probe.fullOrder.compare(
        row,
        pages.read(addresses(group), rowScratch)) > 0

  private def replace(group: Int, row: UnsafeRow): Boolean = {
    val address = pages.replace(addresses(group), row)
    if (address < 0) return false
    addresses(group) = address
    times(group) = probe.time
    true
  }

  private def append(group: Int, row: UnsafeRow): Boolean = {
    if (count == addresses.length && !grow()) return false
    val address = pages.add(row)
    if (address < 0) return false
    if (!terms.onlyLast) groups(count) = group
    addresses(count) = address
    times(count) = probe.time
    count += 1
    true
  }

  private def grow(): Boolean = {
    val length = addresses.length * 2
    if (length > (1 << 28) || !memory.acquire(length * GroupedRowsBuilder.BytesPerRow)) return false
    val before = addresses.length
    if (!terms.onlyLast) groups = java.util.Arrays.copyOf(groups, length)
    addresses = java.util.Arrays.copyOf(addresses, length)
    times = java.util.Arrays.copyOf(times, length)
    if (before > GroupedRowsBuilder.Smallest) memory.release(before * GroupedRowsBuilder.BytesPerRow)
    true
  }

  /** @return null if there is no memory for sorting; the builder is then unchanged */
  def result(): GroupedRows = {
    val keys: KeyIndex = if (probe.hasLongKey) longKeys else rowKeys
    if (terms.onlyLast) {
      times = null // frees more than the starts take
      return new GroupedRows(terms.numFields, keys, pages, Array.range(0, count + 1), addresses, null)
    }
    val ends = (keys.size + 1) * 8L
    if (!memory.acquire(ends)) return null
    val starts = new Array[Int](keys.size + 1)
    var i = 0
    while (i < count) { starts(groups(i) + 1) += 1; i += 1 }
    var longest = 0
    i = 1
    while (i < starts.length) {
      longest = math.max(longest, starts(i))
      starts(i) += starts(i - 1)
      i += 1
    }
    val scratch = OrderedRows.scratch(longest)
    if (!memory.acquire(count * 16L + scratch)) { memory.release(ends); return null }
    val next = starts.clone()
    val (sortedAddresses, sortedTimes) = (new Array[Long](count), new Array[Long](count))
    i = 0
    while (i < count) {
      val place = next(groups(i))
      next(groups(i)) = place + 1
      sortedAddresses(place) = addresses(i)
      sortedTimes(place) = times(i)
      i += 1
    }
    val before = addresses.length
    groups = null
    addresses = null
    times = null
    if (before > GroupedRowsBuilder.Smallest) memory.release(before * GroupedRowsBuilder.BytesPerRow)
    val order = new OrderedRows(sortedTimes, sortedAddresses, pages, probe.fullOrder, terms.numFields)
    i = 0
    while (i < keys.size) { order.sort(starts(i), starts(i + 1)); i += 1 }
    memory.release(scratch)
    new GroupedRows(
      terms.numFields,
      keys,
      pages,
      starts,
      sortedAddresses,
      if (terms.longTime.isDefined) sortedTimes else null)
  }

  /**
   * Returns the added rows in no order and frees their memory while they are read. To be called instead of `result`;
   * the builder must not be used afterwards.
   */
  def drain(): DrainedRows = {
    longKeys = null
    rowKeys = null
    groups = null
    addresses = null
    times = null
    new DrainedRows(pages, memory, terms.numFields)
  }

  def numKeys: Int = if (probe.hasLongKey) longKeys.size else rowKeys.size
}

private object GroupedRowsBuilder {
  val BytesPerRow = 20L
  val Smallest = 64 // rows; arrays of this size are not accounted for
}

/** Evaluates the key and the time of a row. */
private[sparkjoinery] class RowProbe(terms: RowGrouping) {
  val hasLongKey: Boolean = terms.longKey.isDefined

  private val nullTime =
    if (terms.order.headOption.exists(_.nullOrdering == NullsLast)) Long.MaxValue else Long.MinValue

  private val longs = UnsafeProjection.create(Seq(terms.longKey.getOrElse(Literal(0L)), terms.sortKey))
  private val keys = UnsafeProjection.create(terms.keys)
  private val timeTerm = UnsafeProjection.create(terms.time.toSeq)
  private val hasLongTime = terms.longTime.isDefined

  /** Compares rows by the whole ORDER BY; null if there is none. */
  val fullOrder: Comparator[UnsafeRow] =
    if (terms.order.isEmpty) null else RowOrdering.create(terms.order, Nil).asInstanceOf[Comparator[UnsafeRow]]

  private var found: UnsafeRow = _
  var rowKey: UnsafeRow = _
  var matchesNothing: Boolean = _

  def longKey: Long = found.getLong(0)

  /** The row's time as a long. It may be equal for rows that differ in their order; `fullOrder` then decides. */
  def time: Long = if (found.isNullAt(1)) nullTime else found.getLong(1)

  def look(row: InternalRow): Unit = {
    found = longs(row)
    if (!hasLongKey) rowKey = keys(row)
    matchesNothing =
      (if (hasLongKey) found.isNullAt(0) else rowKey.anyNull) ||
        terms.time.isDefined && (if (hasLongTime) found.isNullAt(1) else timeTerm(row).isNullAt(0))
  }
}
