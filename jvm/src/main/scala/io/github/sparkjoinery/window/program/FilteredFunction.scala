package io.github.sparkjoinery.window.program

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.types.DoubleType

/**
 * A function over the rows that a FILTER clause lets through.
 *
 * @param evaluate
 *   makes its result of the function's buffer
 */
private[window] case class FilteredFunction(
    function: DeclarativeAggregate,
    filter: Option[Expression],
    evaluate: Expression) {

  /** As in Spark's own window operator. */
  def updates: Seq[Expression] = filter.fold(function.updateExpressions) { filter =>
    function.updateExpressions.zip(function.aggBufferAttributes).map { case (update, before) =>
      If(filter, update, before)
    }
  }

  /**
   * Moments are as they were when nothing is merged. By Spark's expressions the average of n values merged into nothing
   * is (average / n) * n: no longer that of equal values, so that a variance of 0, and a skewness of NULL, were lost.
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
