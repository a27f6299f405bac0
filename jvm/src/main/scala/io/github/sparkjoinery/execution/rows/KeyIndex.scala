package io.github.sparkjoinery.execution.rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.joinery.BuildMemory

/** Numbers distinct keys, starting at 0. */
sealed trait KeyIndex extends Serializable {
  def size: Int
  def bytes: Long
}

object KeyIndex {
  val Absent: Int = -1
  val NoMemory: Int = -2
}

/** Index of keys that are one long. Open addressing over pairs (key, number + 1), so a probe costs one cache line. */
final class LongKeyIndex(@transient private val memory: BuildMemory) extends KeyIndex {
  private var slots = new Array[Long](LongKeyIndex.Smallest)
  private var shift = 64 - 4
  private var count = 0

  override def size: Int = count
  override def bytes: Long = slots.length * 8L

  def find(key: Long): Int = slots(slotOf(key) + 1).toInt - 1

  /** Prefetches the slot where a search for the key begins. */
  def touch(key: Long): Long = slots(home(key))

  /** @return the key's number, or `NoMemory` */
  def add(key: Long): Int = {
    var slot = slotOf(key)
    if (slots(slot + 1) == 0) {
      if (count * 4 >= slots.length) { // half full
        if (!grow()) return KeyIndex.NoMemory
        slot = slotOf(key)
      }
      slots(slot) = key
      count += 1
      slots(slot + 1) = count
    }
    slots(slot + 1).toInt - 1
  }

  /** Removes the key that was added last. */
  def removeLast(key: Long): Unit = {
    slots(slotOf(key) + 1) = 0
    count -= 1
  }

  private def home(key: Long): Int = (key * LongKeyIndex.GoldenRatio >>> shift).toInt * 2

  /** The slot of the key, or the free slot where it would be added. */
  private def slotOf(key: Long): Int = {
    var slot = home(key)
    while (slots(slot + 1) != 0 && slots(slot) != key) slot = (slot + 2) & (slots.length - 1)
    slot
  }

  private def grow(): Boolean = {
    val old = slots
    if (old.length > (1 << 28) || !memory.acquire(old.length * 16L)) return false
    slots = new Array[Long](old.length * 2)
    shift -= 1
    var i = 0
    while (i < old.length) {
      if (old(i + 1) != 0) {
        val slot = slotOf(old(i))
        slots(slot) = old(i)
        slots(slot + 1) = old(i + 1)
      }
      i += 2
    }
    if (old.length > LongKeyIndex.Smallest) memory.release(old.length * 8L)
    true
  }
}

object LongKeyIndex {
  private val Smallest = 2 * 16 // not accounted for
  private val GoldenRatio = 0x9e3779b97f4a7c15L
}

/** Index of keys as `UnsafeRow`. Equal keys must have equal bytes. */
final class RowKeyIndex(numFields: Int, @transient private val memory: BuildMemory) extends KeyIndex {
  private val keys = new RowPages(memory)
  private var addresses = new Array[Long](RowKeyIndex.Smallest)
  private var hashes = new Array[Int](RowKeyIndex.Smallest)
  private var slots = new Array[Int](2 * RowKeyIndex.Smallest) // number + 1
  private var count = 0

  override def size: Int = count
  override def bytes: Long = keys.bytes + addresses.length * 12L + slots.length * 4L

  /** @param scratch a row owned by the caller, since several threads may search at the same time */
  def find(key: UnsafeRow, scratch: UnsafeRow): Int = slots(slotOf(key, key.hashCode, scratch)) - 1

  def scratch: UnsafeRow = new UnsafeRow(numFields)

  /** The key with this number. */
  def key(number: Int, scratch: UnsafeRow): UnsafeRow = keys.read(addresses(number), scratch)

  def add(key: UnsafeRow, scratch: UnsafeRow): Int = {
    val hash = key.hashCode
    var slot = slotOf(key, hash, scratch)
    if (slots(slot) == 0) {
      if (count == addresses.length) {
        if (!grow()) return KeyIndex.NoMemory
        slot = slotOf(key, hash, scratch)
      }
      val address = keys.add(key)
      if (address < 0) return KeyIndex.NoMemory
      addresses(count) = address
      hashes(count) = hash
      count += 1
      slots(slot) = count
    }
    slots(slot) - 1
  }

  /** Removes the key that was added last. */
  def removeLast(): Unit = {
    val mask = slots.length - 1
    var slot = hashes(count - 1) & mask
    while (slots(slot) != count) slot = (slot + 1) & mask
    slots(slot) = 0
    count -= 1
    keys.removeLast(addresses(count))
  }

  private def slotOf(key: UnsafeRow, hash: Int, scratch: UnsafeRow): Int = {
    val mask = slots.length - 1
    var slot = hash & mask
    while (slots(slot) != 0 && !isAt(slots(slot) - 1, key, hash, scratch)) slot = (slot + 1) & mask
    slot
  }

  private def isAt(number: Int, key: UnsafeRow, hash: Int, scratch: UnsafeRow): Boolean =
    hashes(number) == hash && keys.read(addresses(number), scratch) == key

  private def grow(): Boolean = {
    val length = addresses.length * 2
    if (length > (1 << 28) || !memory.acquire(length * RowKeyIndex.BytesPerKey)) return false
    addresses = java.util.Arrays.copyOf(addresses, length)
    hashes = java.util.Arrays.copyOf(hashes, length)
    slots = new Array[Int](length * 2)
    for (number <- 0 until count) {
      var slot = hashes(number) & (slots.length - 1)
      while (slots(slot) != 0) slot = (slot + 1) & (slots.length - 1)
      slots(slot) = number + 1
    }
    if (length / 2 > RowKeyIndex.Smallest) memory.release(length / 2 * RowKeyIndex.BytesPerKey)
    true
  }
}

object RowKeyIndex {
  private val Smallest = 16 // not accounted for
  private val BytesPerKey = 20L
}
