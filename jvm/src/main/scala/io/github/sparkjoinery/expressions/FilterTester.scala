package io.github.sparkjoinery.expressions

/**
 * Tests the keys of one task. Where more than nine of ten rows pass, it lets all pass for a while, then looks again: a
 * filter that does not filter costs next to nothing.
 *
 * @param words
 *   four for each block
 */
class FilterTester(blocks: Int, words: Array[Long]) extends KeyTester {
  import FilterTester._

  private var tested = 0
  private var passed = 0
  private var unseen = 0 // rows still to let pass
  private var allTested = 0L
  private var allDropped = 0L

  override def rowsTested: Long = allTested
  override def rowsDropped: Long = allDropped

  override def mightContain(hash: Long): Boolean =
    if (unseen > 0) {
      unseen -= 1
      true
    } else {
      val found = contains(hash)
      tested += 1
      allTested += 1
      if (found) passed += 1 else allDropped += 1
      if (tested == Window) {
        if (passed > Window / 10 * 9) unseen = Pause
        tested = 0
        passed = 0
      }
      found
    }

  private def contains(hash: Long): Boolean = {
    val at = blockOf(hash, blocks) << 2
    holds(words(at), hash) && holds(words(at + 1), hash >>> 10) && holds(words(at + 2), hash >>> 20) && holds(
      words(at + 3),
      hash >>> 30)
  }
}

object FilterTester {

  /** Bits for each key of a filter that is built: one key in about a thousand passes that should not. */
  private val BitsPerKey = 16

  /** 16 KB, which costs nothing, and lets hardly a key of a thousand others pass. */
  private val FewestBlocks = 512

  /** Blocks of a filter of so many keys. */
  def blocksFor(keys: Int): Int = ((keys.toLong * BitsPerKey + 255) / 256).max(FewestBlocks).toInt

  /** Adds a key to the words of a filter, four for each block. */
  def add(hash: Long, words: Array[Long]): Unit = {
    val at = blockOf(hash, words.length >> 2) << 2
    words(at) |= bitsOf(hash)
    words(at + 1) |= bitsOf(hash >>> 10)
    words(at + 2) |= bitsOf(hash >>> 20)
    words(at + 3) |= bitsOf(hash >>> 30)
  }

  private def blockOf(hash: Long, blocks: Int): Int = (((hash >>> 40) * blocks) >>> 24).toInt

  /** Rows after which the share of those that passed decides. */
  val Window: Int = 20000

  /** Rows that pass untested before it is tried again. */
  val Pause: Int = 50 * Window

  /** A word's two bits: one in the low half, by five bits of the hash, one in the high half, by the next five. */
  private def bitsOf(hash: Long): Long = (1L << (hash & 31)) | (1L << (32 + ((hash >>> 5) & 31)))

  private def holds(word: Long, hash: Long): Boolean = {
    val bits = bitsOf(hash)
    (word & bits) == bits
  }
}
