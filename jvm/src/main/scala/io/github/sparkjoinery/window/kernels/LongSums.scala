package io.github.sparkjoinery.window.kernels

import io.github.sparkjoinery.window.frames.{Columns, NumberColumn}

/**
 * count, sum and avg of integers: what enters a frame is added, what leaves it taken away, which is exact even where a
 * sum wraps.
 *
 * @param input
 *   column
 * @param sum
 *   or null; so the others
 * @param checked
 *   where a sum that overflows is an error or NULL: the sum of one frame as Spark computes it, from its first row on.
 *   It is used where any part of the frame's sum might overflow, because there the order of additions decides
 */
private[window] final class LongSums(
    columns: Columns,
    input: Int,
    count: NumberColumn,
    sum: NumberColumn,
    avg: NumberColumn,
    checked: CheckedSum) extends Kernel {
  private var added = 0
  private var removed = 0
  private var counted = 0
  private var total = 0L
  private val largest = new LargestInFrame
  private val shared = new SharedFrame(count, sum, avg)

  override def clear(): Unit = { added = 0; removed = 0; counted = 0; total = 0; largest.clear(); shared.clear() }

  override def skipTo(lo: Int): Unit = { added = lo; removed = lo }

  override def compute(first: Int, rows: Int, los: Array[Int], his: Array[Int]): Unit = {
    val (values, nulls, base) = (columns.values(input), columns.nulls(input), columns.base)
    var (added, removed, counted, total) = (this.added, this.removed, this.counted, this.total) // kept in registers
    var k = 0
    while (k < rows) {
      computed = k
      val lo = los(k)
      val hi = his(k)
      while (added < hi) {
        if (!nulls(added - base)) {
          val value = values(added - base)
          total += value
          counted += 1
          if (value != value.toInt)
            largest.see(math.abs(value.toDouble)) // as many ints as there are rows never overflow
        }
        added += 1
      }
      while (removed < lo) {
        if (!nulls(removed - base)) { total -= values(removed - base); counted -= 1 }
        removed += 1
      }
      if (largest.of(lo, hi) * counted >= LongSums.Limit) {
        if (!shared.fills(k, lo, hi)) outputLarge(k, lo, hi, counted, total)
      } else output(k, counted, total)
      k += 1
    }
    computed = k
    this.added = added; this.removed = removed; this.counted = counted; this.total = total
  }

  private def output(at: Int, counted: Int, total: Long): Unit = {
    if (count != null) count.setLong(at, counted)
    if (sum != null) { if (counted == 0) sum.setNull(at) else sum.setLong(at, total) }
    if (avg != null) { if (counted == 0) avg.setNull(at) else avg.setDouble(at, total.toDouble / counted) }
  }

  /** Of a frame with a value, where a part of the sum might overflow. */
  private def outputLarge(at: Int, lo: Int, hi: Int, counted: Int, total: Long): Unit = {
    if (count != null) count.setLong(at, counted)
    if (sum != null) { if (checked != null) checked.into(sum, at, lo, hi) else sum.setLong(at, total) }
    if (avg != null) avg.setDouble(at, asDoubles(lo, hi) / counted)
  }

  private def asDoubles(lo: Int, hi: Int): Double = {
    var result = 0.0
    var i = lo
    while (i < hi) {
      if (!columns.nulls(input)(i - columns.base)) result += columns.values(input)(i - columns.base).toDouble; i += 1
    }
    result
  }
}

private[kernels] object LongSums {
  private val Limit = 9.2e18 // below 2 to the 63rd by more than doubles may be wrong here
}
