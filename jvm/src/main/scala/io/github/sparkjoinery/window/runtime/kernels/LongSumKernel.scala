package io.github.sparkjoinery.window.runtime.kernels

import org.apache.spark.sql.catalyst.expressions.Expression

import io.github.sparkjoinery.window.runtime.frames.{FrameColumns, NumberColumn}

/**
 * Kernel for count, sum and avg of integers. Its running sum has 128 bits. It adds the values that enter a frame and
 * subtracts the values that leave it, so every frame's sum is exact.
 *
 * @param input
 *   number of the column
 * @param count,sum,avg
 *   the result columns; null if the function is not used
 * @param overflow
 *   the result for a frame whose sum does not fit in a long: NULL or Spark's error; null if such a sum wraps around
 */
private[window] final class LongSumKernel(
    columns: FrameColumns,
    input: Int,
    count: NumberColumn,
    sum: NumberColumn,
    avg: NumberColumn,
    overflow: Expression) extends Kernel {
  private var added = 0
  private var removed = 0
  private var counted = 0
  private var low, high = 0L

  override def clear(): Unit = { added = 0; removed = 0; counted = 0; low = 0; high = 0 }

  override def skipTo(lo: Int): Unit = { added = lo; removed = lo }

  override def compute(first: Int, rows: Int, los: Array[Int], his: Array[Int]): Unit = {
    val (values, nulls, base) = (columns.values(input), columns.nulls(input), columns.base)
    var (added, removed, counted) = (this.added, this.removed, this.counted) // kept in registers
    var (low, high) = (this.low, this.high)
    var k = 0
    while (k < rows) {
      computed = k
      val lo = los(k)
      val hi = his(k)
      while (added < hi) {
        if (!nulls(added - base)) {
          val value = values(added - base)
          low += value
          high += value >> 63
          if (java.lang.Long.compareUnsigned(low, value) < 0) high += 1
          counted += 1
        }
        added += 1
      }
      while (removed < lo) {
        if (!nulls(removed - base)) {
          val value = values(removed - base)
          if (java.lang.Long.compareUnsigned(low, value) < 0) high -= 1
          low -= value
          high -= value >> 63
          counted -= 1
        }
        removed += 1
      }
      output(k, counted, low, high)
      k += 1
    }
    computed = k
    this.added = added; this.removed = removed; this.counted = counted; this.low = low; this.high = high
  }

  private def output(at: Int, counted: Int, low: Long, high: Long): Unit = {
    if (count != null) count.setLong(at, counted)
    if (sum != null) {
      if (counted == 0) sum.setNull(at)
      else {
        if (overflow != null && high != low >> 63 && overflow.eval() == null) sum.setNull(at) else sum.setLong(at, low)
      }
    }
    if (avg != null) {
      if (counted == 0) avg.setNull(at)
      else avg.setDouble(at, (if (high == low >> 63) low.toDouble else large(low, high)) / counted)
    }
  }

  private def large(low: Long, high: Long): Double = high * LongSumKernel.TwoTo64 + (low >>> 1) * 2.0 // low is unsigned
}

private[kernels] object LongSumKernel {
  private val TwoTo64 = 18446744073709551616.0
}
