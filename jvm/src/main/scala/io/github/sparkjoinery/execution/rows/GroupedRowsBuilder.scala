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
  private var entries = new RowEntries(memory, hasKeys = !terms.onlyLast)

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
    probe.time > entries.firsts(group) ||
      probe.time == entries.firsts(group) && probe.fullOrder != null && probe.fullOrder.compare(
        row,
        pages.read(entries.addresses(group), rowScratch)) > 0

  private def replace(group: Int, row: UnsafeRow): Boolean = {
    val address = pages.replace(entries.addresses(group), row)
    if (address < 0) return false
    entries.addresses(group) = address
    entries.firsts(group) = probe.time
    true
  }

  private def append(group: Int, row: UnsafeRow): Boolean = entries.hasRoom && {
    val address = pages.add(row)
    if (address >= 0) entries.add(group, address, probe.time)
    address >= 0
  }

  /** @return null if there is no memory for sorting; the builder is then unchanged */
  def result(): GroupedRows = {
    val keys: KeyIndex = if (probe.hasLongKey) longKeys else rowKeys
    if (terms.onlyLast) {
      entries.firsts = null // frees more than the starts take
      return new GroupedRows(
        terms.numFields,
        keys,
        pages,
        Array.range(0, entries.count + 1),
        entries.addresses,
        null)
    }
    val ends = (keys.size + 1) * 8L
    if (!memory.acquire(ends)) return null
    val starts = entries.starts(keys.size)
    val scratch = RowSort.scratch(RowEntries.longest(starts))
    if (!memory.acquire(entries.count * 16L + scratch)) { memory.release(ends); return null }
    val (times, addresses) = entries.byKey(starts, entries.addresses)
    entries.clear()
    new RowSort(times, addresses, RowSort.byRows(pages, probe.fullOrder, terms.numFields)).sortEach(starts)
    memory.release(scratch)
    new GroupedRows(terms.numFields, keys, pages, starts, addresses, if (terms.longTime.isDefined) times else null)
  }

  /**
   * Returns the added rows in no order and frees their memory while they are read. To be called instead of `result`;
   * the builder must not be used afterwards.
   */
  def drain(): ReleasingRows = {
    longKeys = null
    rowKeys = null
    entries = null
    new ReleasingRows(pages, memory, terms.numFields)
  }

  def numKeys: Int = if (probe.hasLongKey) longKeys.size else rowKeys.size
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
