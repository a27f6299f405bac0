package io.github.sparkjoinery.window.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.types._

import io.github.sparkjoinery.expressions.SumEvalMode
import io.github.sparkjoinery.window.logical.program.ExactSum

/**
 * Replaces sums of a window that throw on overflow. A copied row may overflow because the part has only some rows of
 * its frame. Such a sum becomes one that is NULL on overflow, next to a count of its values. The original column throws
 * above the filter that drops copies.
 *
 * @param computed
 *   the columns that the window computes
 * @param results
 *   the original columns, over the computed ones
 */
private[window] case class SumOverflowRewrite(computed: Seq[NamedExpression], results: Seq[NamedExpression])

private[window] object SumOverflowRewrite {

  def find(columns: Seq[NamedExpression]): SumOverflowRewrite = {
    val split = columns.map {
      case column @ Alias(window @ WindowExpression(over @ AggregateExpression(sum: Sum, _, _, _, _), _), name)
          if fails(sum) =>
        val orNull = Alias(window.copy(windowFunction = over.copy(aggregateFunction = ExactSum.orNull(sum))), name)()
        val count = Alias(window.copy(windowFunction = over.copy(aggregateFunction = Count(sum.child))), name)()
        // If the count is above 0, this addition throws as the sum would.
        val failure = Add(Literal(Long.MaxValue), count.toAttribute, EvalMode.ANSI)
        val found = If(
          And(IsNull(orNull.toAttribute), GreaterThan(count.toAttribute, Literal(0L))),
          failure,
          orNull.toAttribute)
        (Seq(orNull, count), Alias(found, name)(column.exprId, column.qualifier, column.explicitMetadata))
      case column => (Seq(column), column.toAttribute)
    }
    SumOverflowRewrite(split.flatMap(_._1), split.map(_._2))
  }

  /** The reason why a window cannot be cut; None if it can. */
  def reasonAgainst(window: WindowExpression): Option[String] = window.windowFunction match {
    case AggregateExpression(function @ (_: Sum | _: Average), _, _, _, _) => function.children.head.dataType match {
        case decimal: DecimalType if decimal.precision + DigitsOfRows <= DecimalType.MAX_PRECISION => None
        case other @ (_: DecimalType | _: YearMonthIntervalType | _: DayTimeIntervalType) =>
          Some(s"${function.prettyName} of ${other.sql} may overflow over a part of a frame")
        case _ => None
      }
    case _ => None
  }

  /** Sums of smaller integers fit into a bigint, as a frame has fewer than two to the 31 rows. */
  private def fails(sum: Sum): Boolean = sum.child.dataType == LongType && SumEvalMode.read(sum) == EvalMode.ANSI

  private val DigitsOfRows = 10
}
