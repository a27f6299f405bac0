package io.github.sparkjoinery.expressions

/**
 * Tests the keys of one task against a bloom filter, and pauses if the filter drops too little. If more than 90 % of
 * 5,000 tested rows passed, the next rows pass untested, until the pause ends and testing resumes. Each further pause
 * is twice as long, up to a limit.
 *
 * @param words
 *   four per block
 * @param pauses
 *   true if rows may pass untested
 */
class FilterTester(blocks: Int, words: Array[Long], pauses: Boolean = true) extends KeyTester {
  import FilterTester._

  private var tested = 0
  private var passed = 0
  private var pause = FirstPause
  private var unseen = 0 // rows of this pause still to pass untested

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
      pause = math.min(pause * 2, LongestPause)
    } else pause = FirstPause
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

  /** Bits per key of a filter that the query builds: about one absent key in a thousand passes. */
  private val BitsPerKey = 16

  /** Fewest blocks of a filter: 16 KB, so that filters of few keys have almost no false positives. */
  private val FewestBlocks = 512

  /** The number of blocks for a number of keys. */
  def blocksFor(keys: Int): Int = ((keys.toLong * BitsPerKey + 255) / 256).max(FewestBlocks).toInt

  /** Sets the bits of a key in the filter's words, four per block. */
  def add(hash: Long, words: Array[Long]): Unit = {
    val at = blockOf(hash, words.length >> 2) << 2
    words(at) |= bitsOf(hash)
    words(at + 1) |= bitsOf(hash >>> 10)
    words(at + 2) |= bitsOf(hash >>> 20)
    words(at + 3) |= bitsOf(hash >>> 30)
  }

  private def blockOf(hash: Long, blocks: Int): Int = (((hash >>> 40) * blocks) >>> 24).toInt

  /** Tested rows after which the share that passed decides on a pause. */
  val Window: Int = 5000

  /** Rows of the shortest and of the longest pause. */
  val FirstPause: Int = 20 * Window
  val LongestPause: Int = 32 * FirstPause

  /**
   * The two bits of a key in one word: one in the low half, by five bits of the hash, one in the high half, by the next
   * five.
   */
  private def bitsOf(hash: Long): Long = (1L << (hash & 31)) | (1L << (32 + ((hash >>> 5) & 31)))

  private def holds(word: Long, hash: Long): Boolean = {
    val bits = bitsOf(hash)
    (word & bits) == bits
  }
}
