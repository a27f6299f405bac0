package io.github.sparkjoinery.window.runtime.kernels

import org.apache.spark.sql.catalyst.expressions.SpecificInternalRow

import io.github.sparkjoinery.window.runtime.rows.RowCursor

/**
 * Kernel for functions over a frame that begins with the partition. Such a frame only grows, so the functions need not
 * be mergeable (row_number, for example).
 */
private[window] final class GrowingFrameKernel(
    functions: AggregateEvaluator,
    cursor: Int => RowCursor,
    results: Array[SpecificInternalRow]) extends Kernel {
  private val buffer = functions.newBuffer()
  private var entering: ForwardRows = _
  private var added = 0

  override def clear(): Unit = {
    entering = new ForwardRows(cursor)
    added = 0
    functions.initialize(buffer)
  }

  override def compute(first: Int, count: Int, los: Array[Int], his: Array[Int]): Unit = {
    var k = 0
    while (k < count) {
      computed = k
      if (added < his(k)) {
        entering.moveTo(added)
        while (added < his(k)) { functions.update(buffer, entering.next()); added += 1 }
      }
      functions.evaluate(buffer, results(k))
      k += 1
    }
    computed = k
  }
}
