package io.github.sparkjoinery.window.runtime.rows

import java.util.Comparator

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.joinery.Collations
import org.apache.spark.sql.joinery.TaskBuildMemory
import org.apache.spark.sql.types.DataType

import io.github.sparkjoinery.execution.rows._

/**
 * Holds a task's input in memory and sorts it by partition and order. Rows lie in pages and never move; most are
 * compared by one long. Partitions come in the order of their keys, as Spark sorts them.
 *
 * @param keys
 *   the PARTITION BY; its values are equal if their bytes are
 * @param limit
 *   bytes that all such structures of a task may take
 */
private[window] final class IndexedPartitions(
    keys: Seq[Expression],
    order: Seq[SortOrder],
    output: Seq[Attribute],
    limit: Long) extends PartitionRows {
  private val memory = TaskBuildMemory(limit)
  private var pages = new RowPages(memory)
  private var keyIndex = if (keys.isEmpty) null else new RowKeyIndex(keys.length, memory)
  private val keyOf = if (keys.isEmpty) null else UnsafeProjection.create(keys, output)
  private val keyScratch = new UnsafeRow(keys.length)
  private var lastKey: UnsafeRow = _
  private var lastNumber = 0

  private val sortKey = order.headOption.map(SortKey(_)).orNull
  private val wordOf = if (sortKey == null) null else UnsafeProjection.create(Seq(sortKey.word), output)
  private var entries = new RowEntries(memory, hasKeys = keys.nonEmpty)
  private var hasNull = false
  private var hasNullWord = false
  var widest = 0

  /** @return false if there is no memory for the row */
  def add(row: UnsafeRow): Boolean = entries.hasRoom && {
    val key = if (keyIndex == null) 0 else numberOf(keyOf(row))
    val address = if (key < 0) -1L else pages.add(row)
    if (address >= 0) {
      entries.add(key, address, if (sortKey == null) 0 else wordOfRow(row))
      widest = math.max(widest, row.getSizeInBytes)
    }
    address >= 0
  }

  private def numberOf(key: UnsafeRow): Int = {
    if (lastKey == null || key != lastKey) {
      lastNumber = keyIndex.add(key, keyScratch)
      if (lastKey == null) lastKey = key.copy() else lastKey.copyFrom(key)
    }
    lastNumber
  }

  private def wordOfRow(row: UnsafeRow): Long = {
    val projected = wordOf(row)
    val word = sortKey.longOf(projected)
    if (projected.isNullAt(0)) hasNull = true else if (word == sortKey.nullWord) hasNullWord = true
    word
  }

  /** Returns all rows as they came and frees their memory while they are read. No row can be added afterwards. */
  def drain(): Iterator[UnsafeRow] = {
    keyIndex = null
    entries = null
    new ReleasingRows(pages, memory, output.length)
  }

  private var inOrder: Array[Long] = _ // the numbers of keys in the order of the keys
  private var starts: Array[Int] = _ // the place of each key's first row, by number, and the end
  private var addresses: Array[Long] = _ // of the sorted rows
  private var at = -1 // in `inOrder`

  /** Sorts all rows. @return false if there is no memory; the rows are then to be drained */
  def sort(): Boolean = {
    val numKeys = if (keyIndex == null) math.min(entries.count, 1) else keyIndex.size
    val keyBytes = numKeys * IndexedPartitions.BytesPerKey
    if (!memory.acquire(keyBytes)) return false
    starts = entries.starts(numKeys)
    val scratch = math.max(RowSort.scratch(RowEntries.longest(starts)), RowSort.scratch(numKeys))
    if (!memory.acquire(entries.count * 16L + scratch)) { memory.release(keyBytes); return false }
    inOrder = sortedKeys(numKeys)
    val (words, sorted) = entries.byKey(starts, entries.addresses)
    entries.clear()
    if (sortKey != null) new RowSort(words, sorted, RowSort.byRows(pages, ties, output.length)).sortEach(starts)
    addresses = sorted
    memory.release(entries.count * 8L + scratch)
    true
  }

  /** Compares rows whose words are equal; null if such rows are equal. */
  private def ties: Comparator[UnsafeRow] =
    if (sortKey.isExact && order.length == 1 && !(hasNull && hasNullWord)) null
    else RowOrdering.create(order, output).asInstanceOf[Comparator[UnsafeRow]]

  private def sortedKeys(numKeys: Int): Array[Long] = {
    val numbers = Array.tabulate(numKeys)(_.toLong)
    if (numKeys > 1) {
      val terms = keys.zipWithIndex.map { case (key, i) =>
        SortOrder(BoundReference(i, key.dataType, key.nullable), Ascending)
      }
      val first = SortKey(terms.head)
      val firstOf = UnsafeProjection.create(Seq(first.word))
      val words = Array.tabulate(numKeys)(number => first.longOf(firstOf(keyIndex.key(number, keyScratch))))
      val ordering = RowOrdering.create(terms, Nil)
      val (a, b) = (new UnsafeRow(keys.length), new UnsafeRow(keys.length))
      new RowSort(
        words,
        numbers,
        (x, y) => ordering.compare(keyIndex.key(x.toInt, a), keyIndex.key(y.toInt, b))).sort(0, numKeys)
    }
    numbers
  }

  override def nextPartition(): Boolean = {
    at += 1
    val isThere = at < inOrder.length
    if (!isThere) free()
    isThere
  }

  private def start: Int = starts(inOrder(at).toInt)
  private def end: Int = starts(inOrder(at).toInt + 1)

  override def size: Int = end - start

  override def cursor(from: Int): RowCursor = new RowCursor {
    private val row = new UnsafeRow(output.length)
    private var place = start + from
    private val until = end
    override def next(): UnsafeRow =
      if (place == until) null else { place += 1; pages.read(addresses(place - 1), row) }

    // Reads that do not wait for each other.
    override def prefetch(count: Int): Unit = {
      val last = math.min(place.toLong + count, until.toLong).toInt
      var (sum, i) = (0L, place)
      while (i < last) { sum += pages.touch(addresses(i)); i += 1 }
      touched = sum
    }
  }

  // The field is written and never read. It is not private, so that neither the compiler nor the JVM drops the reads.
  private[window] var touched = 0L

  private def free(): Unit = {
    pages = null
    keyIndex = null
    addresses = null
    memory.release(memory.acquired)
  }

  // The end of the task releases the memory. Other threads may still be reading if the task ends early.
  override def close(): Unit = ()
}

private[window] object IndexedPartitions {
  private val BytesPerKey = 24L // starts, and their copy while rows are placed; numbers and words

  /** True if values of the type are equal just where their bytes are. */
  def isKey(dataType: DataType): Boolean = Collations.isBinaryStable(dataType)
}
