package io.github.sparkjoinery.window.runtime.kernels

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import io.github.sparkjoinery.window.runtime.rows.RowCursor

/**
 * Kernel for all mergeable functions of one frame.
 *
 * @param extreme
 *   true for rows with a value so large that the order of additions may decide if the result is infinite; null if there
 *   are none. A frame with such a row is computed in Spark's order.
 * @param cursor
 *   opens a cursor on the rows of the partition
 * @param results
 *   one row of results per row of the batch
 */
private[window] final class MergeKernel(
    functions: AggregateEvaluator,
    extreme: BasePredicate,
    cursor: Int => RowCursor,
    results: Array[SpecificInternalRow])
  extends TwoStacks {
  private var entering, totalled, leaving: ForwardRows = _
  private var suffix = new Array[SpecificInternalRow](16)
  private var totals = new Array[SpecificInternalRow](4)
  private val inputs = new Array[UnsafeRow](TwoStacks.Chunk)
  private val back = functions.newBuffer()
  private val merged = functions.newBuffer()
  private var lastExtreme = -1 // row number
  private val ordered = functions.newBuffer()
  private var (orderedLo, orderedHi) = (-1, -1) // the last frame added up in order; tied rows share it

  override def clear(): Unit = {
    super.clear()
    entering = new ForwardRows(cursor)
    totalled = new ForwardRows(cursor)
    leaving = new ForwardRows(cursor)
    lastExtreme = -1
    orderedLo = -1
  }

  override protected def clearBack(): Unit = functions.initialize(back)

  override protected def extendBack(from: Int, until: Int): Unit = {
    entering.moveTo(from)
    var i = from
    while (i < until) {
      val row = entering.next()
      functions.update(back, row)
      if (extreme != null && extreme.eval(row)) lastExtreme = i
      i += 1
    }
  }

  override protected def total(from: Int, until: Int, chunk: Int): Unit = {
    if (chunk >= totals.length) totals = java.util.Arrays.copyOf(totals, totals.length * 2)
    if (totals(chunk) == null) totals(chunk) = functions.newBuffer()
    functions.initialize(totals(chunk))
    totalled.moveTo(from)
    var i = from
    while (i < until) { functions.update(totals(chunk), totalled.next()); i += 1 }
  }

  override protected def accumulateTotals(chunks: Int): Unit = {
    var c = chunks - 2
    while (c >= 1) { functions.merge(totals(c), totals(c + 1)); c -= 1 }
  }

  override protected def suffixes(from: Int, until: Int): Unit = {
    val n = until - from
    while (suffix.length < n) suffix = java.util.Arrays.copyOf(suffix, suffix.length * 2)
    leaving.moveTo(from)
    var i = 0
    while (i < n) { inputs(i) = leaving.next().copy(); i += 1 }
    i = n - 1
    while (i >= 0) {
      if (suffix(i) == null) suffix(i) = functions.newBuffer()
      functions.initialize(suffix(i))
      functions.update(suffix(i), inputs(i))
      inputs(i) = null
      if (i < n - 1) functions.merge(suffix(i), suffix(i + 1))
      i -= 1
    }
  }

  override protected def output(at: Int, place: Int, rest: Int, lo: Int, hi: Int): Unit =
    if (lastExtreme >= lo) functions.evaluate(inOrder(lo, hi), results(at))
    else if (place < 0) functions.evaluate(back, results(at))
    else {
      functions.copy(suffix(place), merged)
      if (rest >= 0) functions.merge(merged, totals(rest))
      functions.merge(merged, back)
      functions.evaluate(merged, results(at))
    }

  private def inOrder(lo: Int, hi: Int): InternalRow = {
    if (lo != orderedLo || hi != orderedHi) {
      functions.initialize(ordered)
      val rows = cursor(lo)
      var i = lo
      while (i < hi) { functions.update(ordered, rows.next()); i += 1 }
      orderedLo = lo
      orderedHi = hi
    }
    ordered
  }
}
