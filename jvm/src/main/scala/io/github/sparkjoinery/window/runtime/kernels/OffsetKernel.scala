package io.github.sparkjoinery.window.runtime.kernels

import org.apache.spark.sql.catalyst.expressions._

import io.github.sparkjoinery.window.runtime.rows.RowCursor

/** Kernel for lag and lead. The frame of a row is the one row at the offset, or empty. */
private[window] final class OffsetKernel(
    functions: Seq[OffsetWindowFunction],
    input: Seq[Attribute],
    cursor: Int => RowCursor,
    results: Array[SpecificInternalRow]) extends Kernel {
  private val value = MutableProjection.create(functions.map(_.input), input)
  private val default = MutableProjection.create(
    functions.map(function =>
      if (function.default == null) Literal.create(null, function.dataType) else function.default),
    input)
  private var away, current: ForwardRows = _

  override def clear(): Unit = {
    away = new ForwardRows(cursor)
    current = new ForwardRows(cursor)
  }

  override def compute(first: Int, count: Int, los: Array[Int], his: Array[Int]): Unit = {
    var k = 0
    while (k < count) {
      computed = k
      if (los(k) < his(k)) {
        away.moveTo(los(k))
        value.target(results(k))(away.next())
      } else {
        current.moveTo(first + k)
        default.target(results(k))(current.next())
      }
      k += 1
    }
    computed = k
  }
}
