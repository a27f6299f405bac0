package io.github.sparkjoinery.expressions

/**
 * Tests the keys of one task. Where more than nine of ten rows pass, it lets all pass for a while, then looks again;
 * for twice as long if it finds the same. A filter that does not filter costs next to nothing.
 *
 * @param words
 *   four for each block
 * @param pauses
 *   whether it may let rows pass unseen
 */
class FilterTester(blocks: Int, words: Array[Long], pauses: Boolean = true) extends KeyTester {
  import FilterTester._

  private var tested = 0
  private var passed = 0
  private var pause = FirstPause
  private var unseen = 0 // rows still to let pass
  private var paused = false
  private var testedBefore = 0L
  private var droppedBefore = 0L

  override def rowsTested: Long = testedBefore + tested
  override def rowsDropped: Long = droppedBefore + tested - passed
  override def hasPaused: Boolean = paused

  override def skips(): Boolean = unseen > 0 && {
    unseen -= 1
    true
  }

  override def mightContain(hash: Long): Boolean = {
    val found = contains(hash)
    tested += 1
    if (found) passed += 1
    if (tested == Window) judge()
    found
  }

  private def judge(): Unit = {
    if (pauses && passed > Window / 10 * 9) {
      unseen = pause
      paused = true
      pause = math.min(pause * 2, LongestPause)
    } else pause = FirstPause
    testedBefore = rowsTested
    droppedBefore = rowsDropped
    tested = 0
    passed = 0
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
  val Window: Int = 5000

  /** Rows that pass untested before it is tried again, at first and at last. */
  val FirstPause: Int = 20 * Window
  val LongestPause: Int = 32 * FirstPause

  /** A word's two bits: one in the low half, by five bits of the hash, one in the high half, by the next five. */
  private def bitsOf(hash: Long): Long = (1L << (hash & 31)) | (1L << (32 + ((hash >>> 5) & 31)))

  private def holds(word: Long, hash: Long): Boolean = {
    val bits = bitsOf(hash)
    (word & bits) == bits
  }
}
