package io.github.sparkjoinery.execution.rows

import java.util.Arrays.copyOf

import org.apache.spark.sql.joinery.BuildMemory

/**
 * Collects one entry per row: the number of its key, its address, and one or two longs. Entries are added in any order
 * and then grouped by key.
 *
 * @param hasKeys
 *   false if all rows have the same key
 * @param hasSeconds
 *   true if entries have a second long
 * @param reserved
 *   bytes per row that the caller will take for its result; they are acquired with each row, so that the result cannot
 *   fail because memory is short
 * @param expected
 *   the number of rows, if it is known; then nothing is copied while entries are added
 */
private[sparkjoinery] final class RowEntries(
    memory: BuildMemory,
    hasKeys: Boolean,
    hasSeconds: Boolean = false,
    reserved: Long = 0,
    expected: Int = 0) {
  import RowEntries._

  private val bytesPerRow = 16L + (if (hasSeconds) 8 else 0) + (if (hasKeys) 4 else 0) + reserved
  private val capacity =
    if (expected > Smallest && expected <= Most && memory.acquire(expected * bytesPerRow)) expected else Smallest
  private var keys = if (hasKeys) new Array[Int](capacity) else null
  var addresses = new Array[Long](capacity)
  var firsts = new Array[Long](capacity)
  var seconds: Array[Long] = if (hasSeconds) new Array[Long](capacity) else null
  var count = 0

  /** @return true if there is memory for one more entry */
  def hasRoom: Boolean = count < addresses.length || grow()

  /** Adds an entry. The caller has asked for room. */
  def add(key: Int, address: Long, first: Long, second: Long = 0): Unit = {
    if (hasKeys) keys(count) = key
    addresses(count) = address
    firsts(count) = first
    if (hasSeconds) seconds(count) = second
    count += 1
  }

  private def grow(): Boolean = {
    val before = addresses.length
    val length = before * 2
    if (length > Most || !memory.acquire(length * bytesPerRow)) return false
    if (hasKeys) keys = copyOf(keys, length)
    addresses = copyOf(addresses, length)
    firsts = copyOf(firsts, length)
    if (hasSeconds) seconds = copyOf(seconds, length)
    if (before > Smallest) memory.release(before * bytesPerRow)
    true
  }

  /**
   * Takes over the entries of `other`, which must not be used any more. Both must have no keys.
   *
   * @param moved
   *   what to add to the addresses of `other`
   * @return
   *   false if there is no memory
   */
  def append(other: RowEntries, moved: Long): Boolean = {
    while (addresses.length < count + other.count) if (!grow()) return false
    System.arraycopy(other.firsts, 0, firsts, count, other.count)
    if (hasSeconds) System.arraycopy(other.seconds, 0, seconds, count, other.count)
    var i = 0
    while (i < other.count) { addresses(count + i) = other.addresses(i) + moved; i += 1 }
    count += other.count
    other.clear()
    true
  }

  /** Returns the place of each key's first row in an order by key, and the number of rows at the end. */
  def starts(numKeys: Int): Array[Int] = {
    val starts = new Array[Int](numKeys + 1)
    if (hasKeys) { var i = 0; while (i < count) { starts(keys(i) + 1) += 1; i += 1 } }
    else starts(numKeys) = count
    var key = 1
    while (key <= numKeys) { starts(key) += starts(key - 1); key += 1 }
    starts
  }

  /**
   * Returns the first longs and the handles of all rows in the order of their keys.
   *
   * @param handles
   *   the addresses of rows; null if their numbers are wanted
   */
  def byKey(starts: Array[Int], handles: Array[Long]): (Array[Long], Array[Long]) = {
    val next = starts.clone()
    val (longs, placed) = (new Array[Long](count), new Array[Long](count))
    var i = 0
    while (i < count) {
      val key = if (hasKeys) keys(i) else 0
      val place = next(key)
      next(key) = place + 1
      longs(place) = firsts(i)
      placed(place) = if (handles == null) i else handles(i)
      i += 1
    }
    (longs, placed)
  }

  /**
   * Drops the arrays and releases their memory.
   *
   * @param kept
   *   bytes of that memory that the caller takes over
   */
  def clear(kept: Long = 0): Unit = {
    val held = if (addresses.length > Smallest) addresses.length * bytesPerRow else 0
    keys = null
    addresses = null
    firsts = null
    seconds = null
    memory.release(held - math.min(kept, held))
  }
}

private[sparkjoinery] object RowEntries {
  private val Smallest = 64 // rows; arrays of this size are not accounted for

  /** The most rows that an index holds. */
  val Most: Int = 1 << 28

  /** The length of the longest range between two neighbours of `starts`. */
  def longest(starts: Array[Int]): Int = {
    var (longest, i) = (0, 1)
    while (i < starts.length) { longest = math.max(longest, starts(i) - starts(i - 1)); i += 1 }
    longest
  }
}
