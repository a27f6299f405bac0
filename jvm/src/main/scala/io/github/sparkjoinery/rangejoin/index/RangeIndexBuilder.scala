package io.github.sparkjoinery.rangejoin.index

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.joinery.BuildMemory

import io.github.sparkjoinery.execution.rows._

/**
 * Builds a [[RangeIndex]] from rows in any order.
 *
 * @param reserves
 *   whether what `result` needs is asked for with each row, so that it cannot fail
 * @param expected
 *   how many rows there will be, if that is known: then nothing is copied as they come
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
  private val bytesPerRow = 16L + (if (hasEnds) 8 else 0) + (if (isKeyless) 0 else 4)
  private val resultBytesPerRow =
    (if (hasEnds) 34L else 24L) + 4 + Directory.BytesPerValue // with its key's first place
  private val addedBytesPerRow = bytesPerRow + (if (reserves) resultBytesPerRow + OrderedRows.MostScratchPerRow else 0)
  private val longKeys = new LongKeyIndex(memory)
  private val rowKeys = new RowKeyIndex(layout.keys.length, memory)
  private val keyScratch = rowKeys.scratch
  private val finder = new PrefixFinder
  private val fields = UnsafeProjection.create(layout.longKey.getOrElse(Literal(0L)) +: layout.bounds(finder))
  private val rowKey = UnsafeProjection.create(layout.keys)

  // one entry per row that has bounds
  private val capacity =
    if (expected > Smallest && expected <= MostRows && memory.acquire(expected * addedBytesPerRow)) expected
    else Smallest
  private var groups = if (isKeyless) null else new Array[Int](capacity)
  private var addresses = new Array[Long](capacity)
  private var starts = new Array[Long](capacity)
  private var ends = if (hasEnds) new Array[Long](capacity) else null
  private var count = 0

  // Few, as a rule, and accounted for as rows are.
  private val otherRows = mutable.ArrayBuffer.empty[Long]

  /** @return whether there was memory for the row; if not, the builder is of no further use */
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
    if (count == addresses.length && !grow()) return false
    val address = pages.add(row)
    if (address < 0) return false
    if (!isKeyless) groups(count) = group
    addresses(count) = address
    starts(count) = found.getLong(1)
    if (hasEnds) ends(count) = found.getLong(2)
    count += 1
    true
  }

  /** The key of all rows, where the layout has none. */
  private def onlyGroup(): Int = if (longKeys.size > 0) 0 else longKeys.add(0L)

  private def addOther(row: UnsafeRow): Boolean = memory.acquire(BytesPerOtherRow) && {
    val address = pages.add(row)
    if (address >= 0) otherRows += address
    address >= 0
  }

  private def grow(): Boolean = {
    val before = addresses.length
    val length = before * 2
    if (length > MostRows || !memory.acquire(length * addedBytesPerRow)) return false
    if (!isKeyless) groups = java.util.Arrays.copyOf(groups, length)
    addresses = java.util.Arrays.copyOf(addresses, length)
    starts = java.util.Arrays.copyOf(starts, length)
    if (hasEnds) ends = java.util.Arrays.copyOf(ends, length)
    if (before > Smallest) memory.release(before * addedBytesPerRow)
    true
  }

  /**
   * Takes over the rows of a builder of the same layout, which has no keys, behind its own. The other, which shares the
   * memory, is of no further use.
   *
   * @return
   *   whether there was memory
   */
  def append(other: RangeIndexBuilder): Boolean = {
    require(isKeyless, "each builder numbers keys for itself")
    while (addresses.length < count + other.count) if (!grow()) return false
    if (onlyGroup() == KeyIndex.NoMemory) return false
    finder.add(other.finder)
    val moved = pages.append(other.pages)
    System.arraycopy(other.starts, 0, starts, count, other.count)
    if (hasEnds) System.arraycopy(other.ends, 0, ends, count, other.count)
    var i = 0
    while (i < other.count) { addresses(count + i) = other.addresses(i) + moved; i += 1 }
    count += other.count
    otherRows ++= other.otherRows.map(_ + moved)
    other.forgetArrays()
    true
  }

  /** @param kept bytes of their memory that are wanted for something else */
  private def forgetArrays(kept: Long = 0): Unit = {
    val held = if (addresses.length > Smallest) addresses.length * addedBytesPerRow else 0
    groups = null
    addresses = null
    starts = null
    ends = null
    memory.release(held - math.min(kept, held))
  }

  def numRows: Int = count + otherRows.length

  /** @return null if there is no memory to put the rows in order */
  def result(): RangeIndex = {
    val keys: KeyIndex = if (hasLongKey) longKeys else rowKeys
    val firsts = firstsOf(keys.size)
    val scratch = OrderedRows.scratch(longestOf(firsts))
    val resultBytes = count * resultBytesPerRow + keys.size * 4L
    if (!reserves && !memory.acquire(resultBytes + scratch)) return null
    if (finder.prefix.nonEmpty) passOverPrefix()
    val (sortedStarts, order) =
      if (isInOrder(keys.size)) (gather(starts, null, count), null) else sorted(firsts)
    val allAddresses = gather(addresses, order, numRows)
    otherRows.copyToArray(allAddresses, count)
    val sortedEnds = if (hasEnds) gather(ends, order, count) else null
    val arePoints = hasEnds && java.util.Arrays.equals(sortedStarts, sortedEnds)
    forgetArrays(if (reserves) resultBytes else 0)
    if (!reserves) memory.release(scratch)
    RangeIndex.of(
      layout.numFields,
      keys,
      pages,
      firsts,
      allAddresses,
      sortedStarts,
      if (arePoints) null else sortedEnds,
      finder.prefix,
      begun)
  }

  /** Files all rows again, by what comes behind the prefix of their texts. */
  private def passOverPrefix(): Unit = {
    val bounds = UnsafeProjection.create(layout.bounds(new SharedPrefix(finder.prefix)))
    val row = new UnsafeRow(layout.numFields)
    var i = 0
    while (i < count) {
      val found = bounds(pages.read(addresses(i), row))
      starts(i) = found.getLong(0)
      if (hasEnds) ends(i) = found.getLong(1)
      i += 1
    }
  }

  private def firstsOf(numKeys: Int): Array[Int] = {
    val firsts = new Array[Int](numKeys + 1)
    var i = 0
    if (isKeyless) firsts(numKeys) = count else while (i < count) { firsts(groups(i) + 1) += 1; i += 1 }
    i = 1
    while (i < firsts.length) { firsts(i) += firsts(i - 1); i += 1 }
    firsts
  }

  private def longestOf(firsts: Array[Int]): Int = {
    var longest = 0
    var i = 1
    while (i < firsts.length) { longest = math.max(longest, firsts(i) - firsts(i - 1)); i += 1 }
    longest
  }

  /** The starts in their order, and for each the number of its row. */
  private def sorted(firsts: Array[Int]): (Array[Long], Array[Long]) = {
    val (times, rows) = (new Array[Long](count), new Array[Long](count))
    val next = firsts.clone()
    var i = 0
    while (i < count) {
      val group = if (isKeyless) 0 else groups(i)
      val place = next(group)
      next(group) = place + 1
      times(place) = starts(i)
      rows(place) = i
      i += 1
    }
    val order = new OrderedRows(times, rows, pages, null, layout.numFields)
    i = 0
    while (i + 1 < firsts.length) { order.sort(firsts(i), firsts(i + 1)); i += 1 }
    (times, rows)
  }

  /** Whether there is nothing to sort, as with rows of the artifact store. */
  private def isInOrder(numKeys: Int): Boolean = numKeys <= 1 && {
    var i = 1
    while (i < count && starts(i - 1) <= starts(i)) i += 1
    i >= count
  }

  /**
   * The values in an order, in an array of so many; in the same one if nothing is to be changed.
   *
   * @param order
   *   null if it is that of the values
   */
  private def gather(values: Array[Long], order: Array[Long], length: Int): Array[Long] =
    if (order == null) { if (values.length == length) values else java.util.Arrays.copyOf(values, length) }
    else {
      val into = new Array[Long](length)
      var i = 0
      while (i < count) { into(i) = values(order(i).toInt); i += 1 }
      into
    }
}

private object RangeIndexBuilder {
  val Smallest = 64 // rows: not accounted for
  val MostRows = 1 << 28
  val BytesPerOtherRow = 64L // boxed, and put in order
}
