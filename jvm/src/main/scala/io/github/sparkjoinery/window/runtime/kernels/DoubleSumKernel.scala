package io.github.sparkjoinery.window.runtime.kernels

import java.lang.Double.longBitsToDouble

import io.github.sparkjoinery.window.logical.program.WindowCompiler
import io.github.sparkjoinery.window.runtime.frames.{FrameColumns, NumberColumn}

/**
 * Kernel for sum and avg of doubles. Each frame's sum takes as many additions as the frame has values, as in Spark, and
 * no subtraction. The error bound is therefore the same: (n - 1) * eps * sum|x|. A frame with a large finite value is
 * added up in Spark's order, because the order may decide whether the sum is infinite.
 *
 * @param input
 *   number of the column, which has zeros in place of NULLs
 * @param sum,avg
 *   the result columns; null if the function is not used
 */
private[window] final class DoubleSumKernel(columns: FrameColumns, input: Int, sum: NumberColumn, avg: NumberColumn)
  extends TwoStacks {
  private val counts = new NonNullCount(columns, input)
  private val suffix = new Array[Double](TwoStacks.Chunk)
  private var totals = new Array[Double](4)
  private var back = 0.0
  private var lastHuge = -1 // row number
  private var (orderedLo, orderedHi) = (-1, -1) // the last frame added up in order; tied rows share it
  private var ordered = 0.0

  override def clear(): Unit = { super.clear(); counts.clear(); lastHuge = -1; orderedLo = -1 }

  override def skipTo(lo: Int): Unit = { super.skipTo(lo); counts.skipTo(lo) }

  override protected def clearBack(): Unit = back = 0

  override protected def extendBack(from: Int, until: Int): Unit = {
    val (values, base) = (columns.values(input), columns.base)
    var i = from
    while (i < until) {
      val value = longBitsToDouble(values(i - base))
      back += value
      val size = math.abs(value)
      if (size > WindowCompiler.SumsFit && size <= Double.MaxValue) lastHuge = i
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
    if (count == 0) {
      if (sum != null) sum.setNull(at)
      if (avg != null) avg.setNull(at)
    } else {
      val result = if (lastHuge >= lo) inOrder(lo, hi)
      else if (place < 0) back
      else if (rest < 0) suffix(place) + back
      else suffix(place) + totals(rest) + back
      if (sum != null) sum.setDouble(at, result)
      if (avg != null) avg.setDouble(at, result / count)
    }
  }

  private def inOrder(lo: Int, hi: Int): Double = {
    if (lo != orderedLo || hi != orderedHi) {
      ordered = added(lo, hi)
      orderedLo = lo
      orderedHi = hi
    }
    ordered
  }

  private def added(from: Int, until: Int): Double = {
    val (values, base) = (columns.values(input), columns.base)
    var result = 0.0
    var i = from
    while (i < until) { result += longBitsToDouble(values(i - base)); i += 1 }
    result
  }
}
