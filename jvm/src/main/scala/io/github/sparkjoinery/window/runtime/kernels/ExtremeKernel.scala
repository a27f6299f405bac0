package io.github.sparkjoinery.window.runtime.kernels

import java.lang.Double.{doubleToRawLongBits, longBitsToDouble}

import io.github.sparkjoinery.window.runtime.frames.{FrameColumns, NumberColumn}

/**
 * Kernel for min and max of values that Spark keeps as numbers, by the 8-byte words of their column.
 *
 * @param input
 *   number of the column
 * @param neutral
 *   the worst of all words
 */
private[window] sealed abstract class ExtremeKernel(
    columns: FrameColumns,
    input: Int,
    neutral: Long,
    result: NumberColumn)
  extends TwoStacks {
  private val counts = new NonNullCount(columns, input)
  private val suffix = new Array[Long](TwoStacks.Chunk)
  private var totals = new Array[Long](4)
  private var back = neutral

  /** Returns the first of two words if neither is better. */
  protected def better(earlier: Long, later: Long): Long

  override def clear(): Unit = { super.clear(); counts.clear() }

  override def skipTo(lo: Int): Unit = { super.skipTo(lo); counts.skipTo(lo) }

  override protected def clearBack(): Unit = back = neutral

  override protected def extendBack(from: Int, until: Int): Unit = back = best(back, from, until)

  override protected def total(from: Int, until: Int, chunk: Int): Unit = {
    if (chunk >= totals.length) totals = java.util.Arrays.copyOf(totals, totals.length * 2)
    totals(chunk) = best(neutral, from, until)
  }

  override protected def accumulateTotals(chunks: Int): Unit = {
    var c = chunks - 2
    while (c >= 1) { totals(c) = better(totals(c), totals(c + 1)); c -= 1 }
  }

  override protected def suffixes(from: Int, until: Int): Unit = {
    val (values, nulls, base) = (columns.values(input), columns.nulls(input), columns.base)
    var found = neutral
    var i = until - 1
    while (i >= from) {
      if (!nulls(i - base)) found = better(values(i - base), found)
      suffix(i - from) = found
      i -= 1
    }
  }

  override protected def output(at: Int, place: Int, rest: Int, lo: Int, hi: Int): Unit =
    if (counts.move(lo, hi) == 0) result.setNull(at)
    else result.setLong(
      at,
      if (place < 0) back
      else if (rest < 0) better(suffix(place), back)
      else better(better(suffix(place), totals(rest)), back))

  private def best(before: Long, from: Int, until: Int): Long = {
    val (values, nulls, base) = (columns.values(input), columns.nulls(input), columns.base)
    var found = before
    var i = from
    while (i < until) {
      if (!nulls(i - base)) found = better(found, values(i - base))
      i += 1
    }
    found
  }
}

/** min and max of integers, dates, timestamps, intervals and small decimals. */
private[window] final class LongExtremeKernel(columns: FrameColumns, input: Int, isMax: Boolean, result: NumberColumn)
  extends ExtremeKernel(columns, input, if (isMax) Long.MinValue else Long.MaxValue, result) {

  override protected def better(earlier: Long, later: Long): Long =
    if (isMax) math.max(earlier, later) else math.min(earlier, later)
}

/** min and max of floats and doubles: NaN is the greatest; of 0.0 and -0.0, which are equal, the first stays. */
private[window] final class DoubleExtremeKernel(columns: FrameColumns, input: Int, isMax: Boolean, result: NumberColumn)
  extends ExtremeKernel(
    columns,
    input,
    doubleToRawLongBits(if (isMax) Double.NegativeInfinity else Double.NaN),
    result) {

  override protected def better(earlierWord: Long, laterWord: Long): Long = {
    val (earlier, later) = (longBitsToDouble(earlierWord), longBitsToDouble(laterWord))
    val isBetter =
      if (isMax) later > earlier || later != later && earlier == earlier
      else later < earlier || earlier != earlier && later == later
    if (isBetter) laterWord else earlierWord
  }
}
