package io.github.sparkjoinery.filters.built

import java.nio.ByteBuffer

import org.apache.spark.util.collection.OpenHashSet

import io.github.sparkjoinery.expressions.FilterTester

/**
 * The distinct hashes of a small side's keys, up to a number of them; beyond it, only that there are more.
 *
 * @param limit
 *   most hashes that are kept
 */
final class KeyHashes(limit: Int) {
  private var hashes = new OpenHashSet[Long](64)

  def isOver: Boolean = hashes == null

  def add(hash: Long): Unit = if (!isOver) {
    hashes.add(hash)
    if (hashes.size > limit) hashes = null
  }

  def addAll(other: KeyHashes): Unit = if (other.isOver) hashes = null else other.foreach(add)

  private def foreach(action: Long => Unit): Unit = {
    var at = hashes.nextPos(0)
    while (at >= 0) {
      action(hashes.getValue(at))
      at = hashes.nextPos(at + 1)
    }
  }

  /** As they go from a task to the one that brings them together. */
  def toBytes: Array[Byte] =
    if (isOver) Array(KeyHashes.Over)
    else {
      val bytes = ByteBuffer.allocate(hashes.size * 8)
      foreach(hash => bytes.putLong(hash))
      bytes.array
    }

  /** The words of a filter that has these keys, and before them how many there are; None if there are too many. */
  def toFilter: Option[Array[Byte]] = if (isOver) None
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

  def ofBytes(bytes: Array[Byte], limit: Int): KeyHashes = {
    val hashes = new KeyHashes(limit)
    if (bytes.length % 8 != 0) hashes.hashes = null
    else {
      val longs = ByteBuffer.wrap(bytes).asLongBuffer()
      while (longs.hasRemaining) hashes.add(longs.get())
    }
    hashes
  }

  /** What [[KeyHashes.toFilter]] made: the number of keys, and the words. */
  def readFilter(bytes: Array[Byte]): (Long, Array[Long]) = {
    val buffer = ByteBuffer.wrap(bytes)
    val keys = buffer.getLong()
    val words = new Array[Long](buffer.remaining / 8)
    buffer.asLongBuffer().get(words)
    (keys, words)
  }
}
