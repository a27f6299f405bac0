package io.github.sparkjoinery.window.logical.program

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.types.DoubleType

/**
 * A function over the rows that pass a FILTER clause.
 *
 * @param evaluate
 *   computes the result from the function's buffer
 */
private[window] case class FilteredFunction(
    function: DeclarativeAggregate,
    filter: Option[Expression],
    evaluate: Expression) {

  /** The update expressions, with the filter as in Spark's own window operator. */
  def updates: Seq[Expression] = filter.fold(function.updateExpressions) { filter =>
    function.updateExpressions.zip(function.aggBufferAttributes).map { case (update, before) =>
      If(filter, update, before)
    }
  }

  /**
   * The merge expressions. For buffers of doubles, a merge with an empty buffer returns the other buffer unchanged.
   * Spark's expressions would compute (average / n) * n for n values. Rounding would change the average of equal
   * values, and with it a variance of 0 or a skewness of NULL.
   */
  def merges: Seq[Expression] =
    if (!function.aggBufferAttributes.forall(_.dataType == DoubleType)) function.mergeExpressions
    else {
      def isEmpty(buffer: Seq[Attribute]): Expression =
        buffer.zip(function.initialValues).map { case (field, initial) => EqualNullSafe(field, initial) }.reduce[
          Expression](And(_, _))
      val (left, right) = (function.aggBufferAttributes, function.inputAggBufferAttributes)
      function.mergeExpressions.zipWithIndex.map { case (merge, i) =>
        If(isEmpty(left), right(i), If(isEmpty(right), left(i), merge))
      }
    }
}

private[window] object FilteredFunction {
  def apply(function: DeclarativeAggregate, filter: Option[Expression]): FilteredFunction =
    FilteredFunction(function, filter, function.evaluateExpression)
}
