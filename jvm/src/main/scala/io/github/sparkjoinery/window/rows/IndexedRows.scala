package io.github.sparkjoinery.window.rows

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.joinery.TaskBuildMemory
import org.apache.spark.sql.types.DataType

import io.github.sparkjoinery.execution.rows.{RowKeyIndex, RowPages}
import io.github.sparkjoinery.window.program.SortKey

/**
 * A task's input in memory: rows in pages, numbered as they came, and the numbers grouped by key and sorted. No row is
 * moved, and most are compared by one long. Partitions come in the order of their keys, so that the output is sorted as
 * Spark's is.
 *
 * @param keys
 *   equal where they are byte by byte
 * @param limit
 *   bytes
 */
private[window] final class IndexedRows(
    keys: Seq[Expression],
    order: Seq[SortOrder],
    output: Seq[Attribute],
    limit: Long) extends PartitionRows {
  private val memory = TaskBuildMemory()
  private var pages = new RowPages(memory)
  private var keyIndex = if (keys.isEmpty) null else new RowKeyIndex(keys.length, memory)
  private val keyOf = if (keys.isEmpty) null else UnsafeProjection.create(keys, output)
  private val keyScratch = new UnsafeRow(keys.length)
  private var lastKey: UnsafeRow = _
  private var lastNumber = 0

  private val sortKey = order.headOption.map(SortKey(_)).orNull
  private val wordOf = if (sortKey == null) null else UnsafeProjection.create(Seq(sortKey.word), output)

  private var count = 0
  private var capacity = 0
  private var addresses = Array.emptyLongArray
  private var words = Array.emptyLongArray
  private var numbers = Array.emptyIntArray // of keys, by row
  private var hasNull = false
  private var hasNullWord = false
  var widest = 0

  /** @return false if there is no memory for it */
  def add(row: UnsafeRow): Boolean = {
    if (count == capacity && !grow()) return false
    val key = if (keyIndex == null) 0 else numberOf(keyOf(row))
    val address = if (key < 0) -1L else pages.add(row)
    if (address < 0 || memory.acquired > limit) return false
    addresses(count) = address
    numbers(count) = key
    widest = math.max(widest, row.getSizeInBytes)
    if (sortKey != null) {
      val word = wordOf(row)
      words(count) = sortKey.of(word)
      if (word.isNullAt(0)) hasNull = true else if (words(count) == sortKey.nullWord) hasNullWord = true
    }
    count += 1
    true
  }

  private def numberOf(key: UnsafeRow): Int = {
    if (lastKey == null || key != lastKey) {
      lastNumber = keyIndex.add(key, keyScratch)
      if (lastKey == null) lastKey = key.copy() else lastKey.copyFrom(key)
    }
    lastNumber
  }

  private def grow(): Boolean = {
    val more = math.max(capacity, IndexedRows.Smallest)
    if (capacity.toLong + more > IndexedRows.Most || !memory.acquire(more * IndexedRows.BytesPerRow)) return false
    capacity += more
    addresses = java.util.Arrays.copyOf(addresses, capacity)
    words = java.util.Arrays.copyOf(words, capacity)
    numbers = java.util.Arrays.copyOf(numbers, capacity)
    true
  }

  /** All rows, as they came, to be taken elsewhere: the memory of those that are taken is free. */
  def drain(): Iterator[UnsafeRow] = {
    val row = new UnsafeRow(output.length)
    keyIndex = null
    words = null
    numbers = null
    memory.release(memory.acquired - pages.bytes - addresses.length * 8L)
    val handover = new Handover(memory)
    Iterator.range(0, count).map { i =>
      handover.gave(pages.dropBefore(addresses(i)))
      pages.read(addresses(i), row)
    } ++ Iterator.single(()).flatMap { _ => addresses = null; handover.end(); Iterator.empty[UnsafeRow] }
  }

  private var starts: Array[Int] = _ // of partitions among the sorted rows, by place; and the end of the last
  private var place = -1

  /** After the last row. @return false if there is no memory to sort them */
  def sort(): Boolean = {
    val partitions = if (keyIndex == null) math.min(count, 1) else keyIndex.size
    val scratch = count.toLong * (IndexSort.ScratchBytes + 4) + partitions.toLong * IndexedRows.BytesPerPartition
    if (!memory.acquire(scratch)) return false
    val inOrder = Array.range(0, partitions)
    if (partitions > 1) sortKeys(inOrder)
    // rows by partition: counted, then put in place
    val next = new Array[Int](partitions)
    var i = 0
    while (i < count) { next(numbers(i)) += 1; i += 1 }
    starts = new Array[Int](partitions + 1)
    i = 0
    while (i < partitions) { starts(i + 1) = starts(i) + next(inOrder(i)); next(inOrder(i)) = starts(i); i += 1 }
    val index = new Array[Int](count)
    i = 0
    while (i < count) { index(next(numbers(i))) = i; next(numbers(i)) += 1; i += 1 }
    if (sortKey != null) {
      val compare =
        if (sortKey.isExact && order.length == 1 && !(hasNull && hasNullWord)) null else comparison
      i = 0
      while (i < partitions) { IndexSort.sort(index, starts(i), starts(i + 1), words, compare); i += 1 }
    }
    val sorted = new Array[Long](count)
    i = 0
    while (i < count) { sorted(i) = addresses(index(i)); i += 1 }
    addresses = sorted
    words = null
    numbers = null
    memory.release(scratch - partitions * 4L)
    true
  }

  private def comparison: IndexSort.IntComparator = {
    val ordering = RowOrdering.create(order, output)
    val (a, b) = (new UnsafeRow(output.length), new UnsafeRow(output.length))
    (x, y) => ordering.compare(pages.read(addresses(x), a), pages.read(addresses(y), b))
  }

  private def sortKeys(partitions: Array[Int]): Unit = {
    val bound = keys.zipWithIndex.map { case (key, i) =>
      SortOrder(BoundReference(i, key.dataType, key.nullable), Ascending)
    }
    val first = SortKey(bound.head)
    val firstOf = UnsafeProjection.create(Seq(first.word))
    val keyWords = partitions.map(number => first.of(firstOf(keyIndex.key(number, keyScratch))))
    val ordering = RowOrdering.create(bound, Nil)
    val (a, b) = (new UnsafeRow(keys.length), new UnsafeRow(keys.length))
    IndexSort.sort(
      partitions,
      0,
      partitions.length,
      keyWords,
      (x, y) => ordering.compare(keyIndex.key(x, a), keyIndex.key(y, b)))
  }

  override def nextPartition(): Boolean = {
    place += 1
    val isThere = place < starts.length - 1
    if (!isThere) free()
    isThere
  }

  override def size: Int = starts(place + 1) - starts(place)

  override def cursor(from: Int): RowCursor = new RowCursor {
    private val row = new UnsafeRow(output.length)
    private var at = starts(place) + from
    private val end = starts(place + 1)
    override def next(): UnsafeRow = if (at == end) null else { at += 1; pages.read(addresses(at - 1), row) }

    // Reads that do not wait for each other.
    override def prefetch(count: Int): Unit = {
      val until = math.min(at.toLong + count, end.toLong).toInt
      var (sum, i) = (0L, at)
      while (i < until) { sum += pages.touch(addresses(i)); i += 1 }
      touched = sum
    }
  }

  // Written only, and not private, so that neither the compiler nor the JVM leaves out the reads that it adds up.
  private[window] var touched = 0L

  private def free(): Unit = {
    pages = null
    keyIndex = null
    addresses = null
    memory.release(memory.acquired)
  }

  // When a task ends early its memory is given back anyway, and others may still be reading.
  override def close(): Unit = ()
}

private[window] object IndexedRows {
  private val Smallest = 1024
  private val Most = 1 << 30
  private val BytesPerRow = 20L
  private val BytesPerPartition = IndexSort.ScratchBytes + 20 // while keys are sorted; 4 of them are kept

  /** Whether values of the type are equal just where their bytes are. */
  def isKey(dataType: DataType): Boolean = UnsafeRowUtils.isBinaryStable(dataType)
}
