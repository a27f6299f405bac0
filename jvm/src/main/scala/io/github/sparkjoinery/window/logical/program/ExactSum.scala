package io.github.sparkjoinery.window.logical.program

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.types._

import io.github.sparkjoinery.expressions.{OrderedLong, SumEvalMode}

/**
 * Rewrites sums and averages of longs and intervals to decimals, in which every partial sum fits. Spark throws or
 * returns NULL if a partial sum does not fit the type of the sum. Partial sums depend on the order of additions, so
 * here only the sum of the whole frame has to fit. Spark's sums of decimals are exact already.
 */
private[window] object ExactSum {

  /** Marks a sum of longs that is NULL only if the sum of the whole frame does not fit. */
  private val OrNull = TreeNodeTag[Unit]("joinery_exact_sum_or_null")

  /** A sum of longs that is NULL, instead of an error, if the sum of the whole frame does not fit. */
  def orNull(sum: Sum): Sum = {
    val marked = SumEvalMode.orNull(sum)
    marked.setTagValue(OrNull, ())
    marked
  }

  private def isOrNull(function: AggregateFunction): Boolean = function.getTagValue(OrNull).isDefined

  /** True if Spark throws for a partial sum that does not fit. Sums of ints fit for any number of rows. */
  def isNeeded(function: DeclarativeAggregate): Boolean = function match {
    case sum: Sum if sum.child.dataType == LongType => SumEvalMode.read(sum) == EvalMode.ANSI || isOrNull(sum)
    case _: Sum | _: Average => isInterval(function)
    case _ => false
  }

  /** True if the result is NULL once a partial sum does not fit. */
  def isNullOnTheWay(function: AggregateFunction): Boolean = function match {
    case sum: Sum =>
      SumEvalMode.read(sum) == EvalMode.TRY && !isOrNull(sum) && (sum.child.dataType == LongType || isInterval(sum))
    case average: Average => average.evalMode == EvalMode.TRY && isInterval(average)
    case _ => false
  }

  private def isInterval(function: AggregateFunction): Boolean = function.dataType match {
    case _: YearMonthIntervalType | _: DayTimeIntervalType => true
    case _ => false
  }

  def apply(function: DeclarativeAggregate, filter: Option[Expression]): FilteredFunction = {
    val value = Cast(OrderedLong(function.children.head), DecimalType(20, 0))
    val exact = function.withNewChildren(Seq(value)).asInstanceOf[DeclarativeAggregate]
    val (sum, others) = exact match {
      case sum: Sum => (sum.evaluateExpression, Nil)
      case average => (average.aggBufferAttributes.head, average.aggBufferAttributes.tail)
    }
    val narrowed = NarrowSum(sum, function.aggBufferAttributes.head.dataType, overflow(function))
    val parts = function.aggBufferAttributes.zip(narrowed +: others).toMap[Expression, Expression]
    FilteredFunction(
      exact,
      filter,
      function.evaluateExpression.transform { case part if parts.contains(part) => parts(part) })
  }

  /** The value of a sum that does not fit its type: NULL, or an expression that throws Spark's error. */
  def overflow(function: DeclarativeAggregate): Expression = {
    val dataType = function.aggBufferAttributes.head.dataType
    val most = dataType match {
      case _: YearMonthIntervalType => Literal.create(Int.MaxValue, dataType)
      case _ => Literal.create(Long.MaxValue, dataType)
    }
    if (isOrNull(function)) Literal(null, dataType) else Add(most, most, EvalMode.ANSI)
  }
}
