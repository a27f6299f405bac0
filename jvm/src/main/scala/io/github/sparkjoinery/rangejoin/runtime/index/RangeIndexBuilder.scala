package io.github.sparkjoinery.rangejoin.runtime.index

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.joinery.BuildMemory

import io.github.sparkjoinery.execution.rows._
import io.github.sparkjoinery.rangejoin.logical.{RangeLayout, SharedPrefix}

/**
 * Builds a [[RangeIndex]] from rows in any order.
 *
 * @param reserves
 *   true if the memory for the result is acquired with each row, so that `result` cannot fail
 * @param expected
 *   the number of rows, if it is known; then nothing is copied while rows are added
 */
final class RangeIndexBuilder(
    layout: RangeLayout,
    memory: BuildMemory,
    reserves: Boolean = false,
    expected: Int = 0) {
  import RangeIndexBuilder._

  private val begun = System.nanoTime()
  private val pages = new RowPages(memory)
  private val hasLongKey = layout.longKey.isDefined
  private val isKeyless = layout.keys.isEmpty
  private val hasEnds = layout.hasEnds
  private val resultBytesPerRow =
    (if (hasEnds) 34L else 24L) + 4 + RankDirectory.BytesPerValue // with its key's first place
  private val longKeys = new LongKeyIndex(memory)
  private val rowKeys = new RowKeyIndex(layout.keys.length, memory)
  private val keyScratch = rowKeys.scratch
  private val finder = new PrefixFinder
  private val fields = UnsafeProjection.create(layout.longKey.getOrElse(Literal(0L)) +: layout.bounds(finder))
  private val rowKey = UnsafeProjection.create(layout.keys)

  // one entry per row that has bounds
  private val entries = new RowEntries(
    memory,
    hasKeys = !isKeyless,
    hasEnds,
    reserved = if (reserves) resultBytesPerRow + RowSort.ScratchPerRow else 0,
    expected)

  // usually few; their memory is acquired with each row
  private val otherRows = mutable.ArrayBuffer.empty[Long]

  /** @return false if there is no memory for the row; no row can be added afterwards */
  def add(row: UnsafeRow): Boolean = {
    val found = fields(row)
    val keyOfRow = if (hasLongKey) null else rowKey(row)
    val hasKey = if (hasLongKey) !found.isNullAt(0) else !keyOfRow.anyNull
    val hasBounds = !found.isNullAt(1) && !found.isNullAt(2)
    if (!hasKey || !hasBounds) return !layout.keepsAll || addOther(row)
    val group =
      if (isKeyless) onlyGroup()
      else if (hasLongKey) longKeys.add(found.getLong(0))
      else rowKeys.add(keyOfRow, keyScratch)
    if (group == KeyIndex.NoMemory) return false
    entries.hasRoom && {
      val address = pages.add(row)
      if (address >= 0) entries.add(group, address, found.getLong(1), if (hasEnds) found.getLong(2) else 0)
      address >= 0
    }
  }

  /** The only key, if the layout has none. */
  private def onlyGroup(): Int = if (longKeys.size > 0) 0 else longKeys.add(0L)

  private def addOther(row: UnsafeRow): Boolean = memory.acquire(BytesPerOtherRow) && {
    val address = pages.add(row)
    if (address >= 0) otherRows += address
    address >= 0
  }

  /**
   * Appends the rows of another builder. Both have the same layout without keys, and account for the same memory. The
   * other must not be used any more.
   *
   * @return
   *   false if there is no memory
   */
  def append(other: RangeIndexBuilder): Boolean = {
    require(isKeyless, "each builder numbers keys for itself")
    if (onlyGroup() == KeyIndex.NoMemory) return false
    finder.add(other.finder)
    val moved = pages.append(other.pages)
    otherRows ++= other.otherRows.map(_ + moved)
    entries.append(other.entries, moved)
  }

  def numRows: Int = entries.count + otherRows.length

  /** @return null if there is no memory to put the rows in order */
  def result(): RangeIndex = {
    val keys: KeyIndex = if (hasLongKey) longKeys else rowKeys
    val count = entries.count
    val firsts = entries.starts(keys.size)
    val scratch = RowSort.scratch(RowEntries.longest(firsts))
    val resultBytes = count * resultBytesPerRow + keys.size * 4L
    if (!reserves && !memory.acquire(resultBytes + scratch)) return null
    if (finder.prefix.nonEmpty) passOverPrefix()
    val (starts, order) =
      if (isInOrder(keys.size)) (gather(entries.firsts, null, count), null) else sorted(firsts)
    val addresses = gather(entries.addresses, order, numRows)
    otherRows.copyToArray(addresses, count)
    val ends = if (hasEnds) gather(entries.seconds, order, count) else null
    val arePoints = hasEnds && java.util.Arrays.equals(starts, ends)
    entries.clear(if (reserves) resultBytes else 0)
    if (!reserves) memory.release(scratch)
    RangeIndex.build(
      layout.numFields,
      keys,
      pages,
      firsts,
      addresses,
      starts,
      if (arePoints) null else ends,
      finder.prefix,
      begun)
  }

  /** Computes the bounds of all rows again, from the bytes after the prefix of their texts. */
  private def passOverPrefix(): Unit = {
    val bounds = UnsafeProjection.create(layout.bounds(new SharedPrefix(finder.prefix)))
    val row = new UnsafeRow(layout.numFields)
    var i = 0
    while (i < entries.count) {
      val found = bounds(pages.read(entries.addresses(i), row))
      entries.firsts(i) = found.getLong(0)
      if (hasEnds) entries.seconds(i) = found.getLong(1)
      i += 1
    }
  }

  /** The starts in order, and the numbers of their rows. */
  private def sorted(firsts: Array[Int]): (Array[Long], Array[Long]) = {
    val (starts, rows) = entries.byKey(firsts, handles = null)
    new RowSort(starts, rows, null).sortEach(firsts)
    (starts, rows)
  }

  /** True if the rows are sorted already, as those of the artifact store are. */
  private def isInOrder(numKeys: Int): Boolean = numKeys <= 1 && {
    var i = 1
    while (i < entries.count && entries.firsts(i - 1) <= entries.firsts(i)) i += 1
    i >= entries.count
  }

  /**
   * Returns the values in an order, in an array of a length; the same array if nothing changes.
   *
   * @param order
   *   null to keep the order
   */
  private def gather(values: Array[Long], order: Array[Long], length: Int): Array[Long] =
    if (order == null) { if (values.length == length) values else java.util.Arrays.copyOf(values, length) }
    else {
      val into = new Array[Long](length)
      var i = 0
      while (i < entries.count) { into(i) = values(order(i).toInt); i += 1 }
      into
    }
}

private object RangeIndexBuilder {
  val BytesPerOtherRow = 64L // boxed, and put in order
}
