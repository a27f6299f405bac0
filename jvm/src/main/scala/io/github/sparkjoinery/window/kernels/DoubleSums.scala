package io.github.sparkjoinery.window.kernels

import java.lang.Double.longBitsToDouble

import io.github.sparkjoinery.window.frames.{Columns, NumberColumn}

/**
 * sum and avg of doubles. Each frame's sum is made by as many additions as it has values, as Spark's is, and by no
 * subtraction: the error bound is the same, (n - 1) * eps * sum|x|.
 *
 * @param input
 *   column; NULLs are zeros in it
 * @param sum
 *   or null; so the others
 */
private[window] final class DoubleSums(columns: Columns, input: Int, sum: NumberColumn, avg: NumberColumn)
  extends TwoStacks {
  private val counts = new Counts(columns, input)
  private val suffix = new Array[Double](TwoStacks.Chunk)
  private var totals = new Array[Double](4)
  private var back = 0.0
  private val largest = new LargestInFrame // finite

  private val shared = new SharedFrame(sum, avg)

  override def clear(): Unit = { super.clear(); counts.clear(); largest.clear(); shared.clear() }

  override def skipTo(lo: Int): Unit = { super.skipTo(lo); counts.skipTo(lo) }

  override protected def clearBack(): Unit = back = 0

  override protected def extendBack(from: Int, until: Int): Unit = {
    val (values, base) = (columns.values(input), columns.base)
    var i = from
    while (i < until) {
      val value = longBitsToDouble(values(i - base))
      back += value
      val size = math.abs(value)
      if (size > DoubleSums.Small && size <= Double.MaxValue) largest.see(size)
      i += 1
    }
  }

  override protected def total(from: Int, until: Int, chunk: Int): Unit = {
    if (chunk >= totals.length) totals = java.util.Arrays.copyOf(totals, totals.length * 2)
    totals(chunk) = added(from, until)
  }

  override protected def accumulateTotals(chunks: Int): Unit = {
    var c = chunks - 2
    while (c >= 1) { totals(c) += totals(c + 1); c -= 1 }
  }

  override protected def suffixes(from: Int, until: Int): Unit = {
    val (values, base) = (columns.values(input), columns.base)
    var sum = 0.0
    var i = until - 1
    while (i >= from) { sum += longBitsToDouble(values(i - base)); suffix(i - from) = sum; i -= 1 }
  }

  override protected def output(at: Int, place: Int, rest: Int, lo: Int, hi: Int): Unit = {
    val count = counts.move(lo, hi)
    // Where a part of the sum might become infinite, the order of additions decides whether it does: Spark's order.
    val mayOverflow = largest.of(lo, hi) * count > DoubleSums.Limit
    if (!mayOverflow || !shared.fills(at, lo, hi)) outputOf(at, place, rest, lo, hi, count, mayOverflow)
  }

  private def outputOf(
      at: Int,
      place: Int,
      rest: Int,
      lo: Int,
      hi: Int,
      count: Int,
      mayOverflow: Boolean): Unit = {
    if (count == 0) {
      if (sum != null) sum.setNull(at)
      if (avg != null) avg.setNull(at)
    } else {
      val result = if (mayOverflow) added(lo, hi)
      else if (place < 0) back
      else if (rest < 0) suffix(place) + back
      else suffix(place) + totals(rest) + back
      if (sum != null) sum.setDouble(at, result)
      if (avg != null) avg.setDouble(at, result / count)
    }
  }

  private def added(from: Int, until: Int): Double = {
    val (values, base) = (columns.values(input), columns.base)
    var result = 0.0
    var i = from
    while (i < until) { result += longBitsToDouble(values(i - base)); i += 1 }
    result
  }
}

private[kernels] object DoubleSums {
  private val Limit = Double.MaxValue / 2
  private val Small = 1e290 // as many of these as a partition has rows stay below the limit
}
