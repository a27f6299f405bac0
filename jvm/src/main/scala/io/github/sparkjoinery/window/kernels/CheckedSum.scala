package io.github.sparkjoinery.window.kernels

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.types.LongType

import io.github.sparkjoinery.window.frames.{Columns, NumberColumn}

/**
 * The sum of integers in one frame by Spark's own expressions, row after row: with its errors, and its NULLs.
 *
 * @param function
 *   a sum of an attribute of type long
 */
private[window] final class CheckedSum(function: DeclarativeAggregate, value: Attribute, columns: Columns, input: Int) {
  private val buffer = new SpecificInternalRow(function.aggBufferAttributes.map(_.dataType))
  private val row = new SpecificInternalRow(Seq(LongType))
  private val joined = new JoinedRow
  private val initialize = MutableProjection.create(function.initialValues, Nil).target(buffer)
  private val update =
    MutableProjection.create(function.updateExpressions, function.aggBufferAttributes :+ value).target(buffer)
  private val result = MutableProjection.create(Seq(function.evaluateExpression), function.aggBufferAttributes)

  def into(target: NumberColumn, at: Int, lo: Int, hi: Int): Unit = {
    initialize(EmptyRow)
    var i = lo
    while (i < hi) {
      if (!columns.nulls(input)(i - columns.base)) {
        row.setLong(0, columns.values(input)(i - columns.base))
        update(joined(buffer, row))
      }
      i += 1
    }
    val sum = result(buffer)
    if (sum.isNullAt(0)) target.setNull(at) else target.setLong(at, sum.getLong(0))
  }
}
