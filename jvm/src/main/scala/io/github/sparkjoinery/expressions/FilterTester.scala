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

  override def mightContain(hash: Long): Boolean =
    if (unseen > 0) {
      unseen -= 1
      true
    } else {
      val found = contains(hash)
      tested += 1
      if (found) passed += 1
      if (tested == Window) {
        if (passed > Window / 10 * 9) unseen = Pause
        tested = 0
        passed = 0
      }
      found
    }

  private def contains(hash: Long): Boolean = {
    val at = (((hash >>> 40) * blocks) >>> 24).toInt << 2
    holds(words(at), hash) && holds(words(at + 1), hash >>> 10) && holds(words(at + 2), hash >>> 20) && holds(
      words(at + 3),
      hash >>> 30)
  }
}

object FilterTester {

  /** Rows after which the share of those that passed decides. */
  val Window: Int = 20000

  /** Rows that pass untested before it is tried again. */
  val Pause: Int = 50 * Window

  /**
   * Whether a word has both of its bits: one in the low half, by five bits of the hash, one in the high half, by the
   * next five.
   */
  private def holds(word: Long, hash: Long): Boolean = {
    val bits = (1L << (hash & 31)) | (1L << (32 + ((hash >>> 5) & 31)))
    (word & bits) == bits
  }
}
