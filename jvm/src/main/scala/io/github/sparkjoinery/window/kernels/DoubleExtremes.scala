package io.github.sparkjoinery.window.kernels

import java.lang.Double.longBitsToDouble

import io.github.sparkjoinery.window.frames.{Columns, NumberColumn}

/**
 * Kernel for min and max of floats and doubles. NaN is the greatest value. 0.0 and -0.0 are equal; the first of them
 * wins.
 *
 * @param input
 *   number of the column
 */
private[window] final class DoubleExtremes(columns: Columns, input: Int, isMax: Boolean, result: NumberColumn)
  extends TwoStacks {
  private val counts = new Counts(columns, input)
  private val neutral = if (isMax) Double.NegativeInfinity else Double.NaN
  private val suffix = new Array[Double](TwoStacks.Chunk)
  private var totals = new Array[Double](4)
  private var back = neutral

  private def better(earlier: Double, later: Double): Double =
    if (isMax) { if (later > earlier || later != later && earlier == earlier) later else earlier }
    else if (later < earlier || earlier != earlier && later == later) later
    else earlier

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
      if (!nulls(i - base)) found = better(longBitsToDouble(values(i - base)), found)
      suffix(i - from) = found
      i -= 1
    }
  }

  override protected def output(at: Int, place: Int, rest: Int, lo: Int, hi: Int): Unit =
    if (counts.move(lo, hi) == 0) result.setNull(at)
    else result.setDouble(
      at,
      if (place < 0) back
      else if (rest < 0) better(suffix(place), back)
      else better(better(suffix(place), totals(rest)), back))

  private def best(before: Double, from: Int, until: Int): Double = {
    val (values, nulls, base) = (columns.values(input), columns.nulls(input), columns.base)
    var found = before
    var i = from
    while (i < until) {
      if (!nulls(i - base)) found = better(found, longBitsToDouble(values(i - base)))
      i += 1
    }
    found
  }
}
