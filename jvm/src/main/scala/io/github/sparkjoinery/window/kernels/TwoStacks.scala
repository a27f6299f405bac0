package io.github.sparkjoinery.window.kernels

/**
 * A moving frame over anything that can be merged, without ever taking anything out: so nothing is lost by
 * cancellation.
 * {{{
 *        lo          middle          hi
 *   ------[ suffixes )[ running total )------
 *          front        back
 * }}}
 * The frame's value is front merged with back, in that order. Once the front is used up, what is then the frame becomes
 * the front. Of a long front, suffixes are there for one chunk at a time, and totals for the chunks after it: memory
 * grows with a chunk's length, and with the frame's only divided by it. A row is visited at most three times.
 * (Two-stack queue: Tangwongsan, Hirzel, Schneider, "Low-latency sliding-window aggregation in worst-case constant
 * time", DEBS 2017.)
 */
private[window] abstract class TwoStacks extends Kernel {
  private var added = 0
  private var middle = 0
  private var front = 0 // first row of the front when it was made
  private var chunk = 0
  private var chunkEnd = 0
  private var chunks = 0

  /** Rows `from` until `until` join the back. */
  protected def extendBack(from: Int, until: Int): Unit
  protected def clearBack(): Unit

  /** The total of a chunk of the front, which is to be kept under its number. */
  protected def total(from: Int, until: Int, chunk: Int): Unit

  /** Totals 1 to `chunks` - 1 become suffixes: each includes those after it. */
  protected def accumulateTotals(chunks: Int): Unit

  /** Suffixes of rows `from` until `until`, the first of them at place 0. */
  protected def suffixes(from: Int, until: Int): Unit

  /**
   * The frame's value, of row `at` of the batch.
   *
   * @param place
   *   of the first row's suffix, or -1 if there is no front
   * @param rest
   *   the chunk whose total is what comes after the suffix, or -1
   */
  protected def output(at: Int, place: Int, rest: Int, lo: Int, hi: Int): Unit

  private var chunkStart = 0 // the first row whose suffix is there

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
