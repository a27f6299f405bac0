package io.github.sparkjoinery.window.runtime.kernels

/**
 * Kernel for a moving frame over values that can be merged. It never subtracts a value, so no digits are lost by
 * cancellation.
 * {{{
 *        lo          middle          hi
 *   ------[ suffixes )[ running total )------
 *          front        back
 * }}}
 * The frame's value is the front merged with the back, in that order. When the frame has passed the front, the rows of
 * the back become the new front. A long front is divided into chunks. Suffixes exist for one chunk at a time, and
 * totals for the later chunks. Memory thus grows with the length of a chunk, and with the length of the frame divided
 * by it. Each row is read at most three times. (Two-stack queue: Tangwongsan, Hirzel, Schneider, "Low-latency
 * sliding-window aggregation in worst-case constant time", DEBS 2017.)
 */
private[window] abstract class TwoStacks extends Kernel {
  private var added = 0
  private var middle = 0
  private var front = 0 // first row of the front when it was made
  private var chunk = 0
  private var chunkEnd = 0
  private var chunks = 0

  /** Adds rows `from` until `until` to the back. */
  protected def extendBack(from: Int, until: Int): Unit
  protected def clearBack(): Unit

  /** Computes the total of a chunk of the front and stores it under the chunk's number. */
  protected def total(from: Int, until: Int, chunk: Int): Unit

  /** Turns the totals 1 to `chunks` - 1 into suffixes: each then includes the later ones. */
  protected def accumulateTotals(chunks: Int): Unit

  /** Computes the suffixes of rows `from` until `until`; the first is at index 0. */
  protected def suffixes(from: Int, until: Int): Unit

  /**
   * Writes the frame's value for row `at` of the batch.
   *
   * @param place
   *   index of the suffix of the frame's first row; -1 if there is no front
   * @param rest
   *   number of the chunk whose total follows the suffix; -1 if there is none
   */
  protected def output(at: Int, place: Int, rest: Int, lo: Int, hi: Int): Unit

  private var chunkStart = 0 // the first row with a suffix

  override def clear(): Unit = {
    added = 0; middle = 0; front = 0; chunk = 0; chunkStart = 0; chunkEnd = 0; chunks = 0
    clearBack()
  }

  override def compute(first: Int, count: Int, los: Array[Int], his: Array[Int]): Unit = {
    var k = 0
    while (k < count) {
      computed = k
      step(k, los(k), his(k))
      k += 1
    }
    computed = k
  }

  override def skipTo(lo: Int): Unit = { added = lo; middle = lo }

  private def step(k: Int, lo: Int, hi: Int): Unit = {
    if (hi > added) { extendBack(added, hi); added = hi }
    if (lo > middle) flip(lo)
    else if (lo < middle && lo >= chunkEnd) loadChunk(lo)
    if (lo == middle) output(k, -1, -1, lo, hi)
    else output(k, lo - chunkStart, if (chunk + 1 < chunks) chunk + 1 else -1, lo, hi)
  }

  private def flip(lo: Int): Unit = {
    middle = added
    clearBack()
    front = lo
    chunks = ((added - lo).toLong + TwoStacks.Chunk - 1).toInt / TwoStacks.Chunk
    if (lo < added) {
      var c = 1
      while (c < chunks) {
        total(lo + c * TwoStacks.Chunk, math.min(lo + (c + 1) * TwoStacks.Chunk, added), c)
        c += 1
      }
      if (chunks > 2) accumulateTotals(chunks)
      loadChunk(lo)
    }
  }

  private def loadChunk(lo: Int): Unit = {
    chunk = (lo - front) / TwoStacks.Chunk
    chunkStart = lo
    chunkEnd = math.min(front.toLong + (chunk + 1L) * TwoStacks.Chunk, middle.toLong).toInt
    suffixes(lo, chunkEnd)
  }
}

private[window] object TwoStacks {
  val Chunk = 2048
}
