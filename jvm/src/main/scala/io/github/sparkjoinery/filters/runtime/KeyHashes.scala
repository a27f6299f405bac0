package io.github.sparkjoinery.filters.runtime

import java.nio.ByteBuffer

import org.apache.spark.TaskContext
import org.apache.spark.sql.joinery.{BuildMemory, DriverBuildMemory, ExecutionMemory, TaskBuildMemory}
import org.apache.spark.util.collection.OpenHashSet

import io.github.sparkjoinery.expressions.FilterTester

/**
 * The distinct hashes of a small side's keys, up to a limit. Beyond the limit, or without memory for more, the hashes
 * are dropped, and the query does without the filter.
 *
 * @param limit
 *   the largest number of hashes that are kept
 * @param memory
 *   the memory of these hashes alone
 */
final class KeyHashes(limit: Int, memory: BuildMemory) {
  import KeyHashes._

  private var hashes = new OpenHashSet[Long](Smallest)

  def isOver: Boolean = hashes == null

  def add(hash: Long): Unit = if (!isOver) {
    if (hashes.size < roomOf(hashes.capacity) || hashes.contains(hash)) hashes.add(hash)
    else if (!growBy(hash)) giveUp()
    if (!isOver && hashes.size > limit) giveUp()
  }

  /**
   * Adds a hash to a full set. The set doubles its arrays, and holds both while it moves the hashes.
   *
   * @return
   *   false if there is no memory for it
   */
  private def growBy(hash: Long): Boolean = {
    val before = hashes.capacity
    memory.acquire(bytesOf(before * 2)) && {
      hashes.add(hash)
      if (before > Smallest) memory.release(bytesOf(before))
      true
    }
  }

  /** Takes over the hashes of others, which cannot be used afterwards. */
  def addAll(others: KeyHashes): Unit = {
    if (others.isOver) giveUp() else others.foreach(add)
    others.giveUp()
  }

  def giveUp(): Unit = {
    hashes = null
    memory.release(memory.acquired)
  }

  private def foreach(action: Long => Unit): Unit = {
    var at = hashes.nextPos(0)
    while (at >= 0) {
      action(hashes.getValue(at))
      at = hashes.nextPos(at + 1)
    }
  }

  /** Serializes the hashes, to be merged with those of other tasks. */
  def toBytes: Array[Byte] =
    if (isOver || !memory.acquire(hashes.size * 8L)) Array(Over)
    else {
      val bytes = ByteBuffer.allocate(hashes.size * 8)
      foreach(hash => bytes.putLong(hash))
      bytes.array
    }

  /** The number of keys, followed by the words of a filter that has these keys. None if there are too many keys. */
  def toFilter: Option[Array[Byte]] = if (isOver || !memory.acquire(FilterTester.blocksFor(hashes.size) * 64L)) None
  else {
    val words = new Array[Long](FilterTester.blocksFor(hashes.size) * 4)
    foreach(FilterTester.add(_, words))
    val bytes = ByteBuffer.allocate(8 + words.length * 8).putLong(hashes.size)
    bytes.asLongBuffer().put(words)
    Some(bytes.array)
  }
}

object KeyHashes {
  private val Over: Byte = 0
  private val Smallest = 64 // not accounted for

  /** An empty set in the memory of the running task. The driver bounds the set by `limit` alone. */
  def apply(limit: Int): KeyHashes = new KeyHashes(
    limit,
    if (TaskContext.get() == null) new DriverBuildMemory(Long.MaxValue)
    else TaskBuildMemory(ExecutionMemory.shareOfTask))

  /** The number of hashes that Spark's set takes before it doubles. */
  private def roomOf(capacity: Int): Int = (capacity * 0.7).toInt

  /** Bytes of a set's hashes, and of a bit for each place. */
  private def bytesOf(capacity: Int): Long = capacity * 8L + capacity / 8

  def ofBytes(bytes: Array[Byte], limit: Int): KeyHashes = {
    val hashes = KeyHashes(limit)
    if (bytes.length % 8 != 0) hashes.giveUp()
    else {
      val longs = ByteBuffer.wrap(bytes).asLongBuffer()
      while (longs.hasRemaining) hashes.add(longs.get())
    }
    hashes
  }

  /** Reads a result of [[KeyHashes.toFilter]]: the number of keys, and the words. */
  def readFilter(bytes: Array[Byte]): (Long, Array[Long]) = {
    val buffer = ByteBuffer.wrap(bytes)
    val keys = buffer.getLong()
    val words = new Array[Long](buffer.remaining / 8)
    buffer.asLongBuffer().get(words)
    (keys, words)
  }
}
