package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/**
 * A comparison of an ASOF JOIN whose operands' sides are known.
 *
 * @param left
 *   the operand over the left side
 * @param right
 *   the operand over the right side
 * @param order
 *   what the right rows are ordered by: the operand over the right side, without the cast that makes the types one
 * @param backward
 *   whether the right row wanted is the latest at or before the left one (`left >= right`, or `>`), and not the
 *   earliest at or after it
 */
case class AsOfComparison(left: Expression, right: Expression, order: Expression, backward: Boolean)

object AsOfComparison {

  /** Whether an expression is one of the comparisons `>=`, `>`, `<=`, `<`. */
  def is(expression: Expression): Boolean = backward(expression).isDefined

  /**
   * The comparison with its sides, or nothing if either operand is not over one side alone, or both are over one.
   *
   * @param written
   *   the operands as written, in the order of the comparison
   */
  def of(
      expression: Expression,
      written: Seq[Expression],
      left: LogicalPlan,
      right: LogicalPlan): Option[AsOfComparison] = expression match {
    case comparison: BinaryComparison => backward(comparison).flatMap { backward =>
        def over(operand: Expression, side: LogicalPlan): Boolean = operand.references.subsetOf(side.outputSet)
        val (first, second) = (comparison.left, comparison.right)
        if (over(first, left) && over(second, right)) {
          Some(AsOfComparison(first, second, written.last, backward))
        } else if (over(first, right) && over(
            second,
            left) && first.references.nonEmpty && second.references.nonEmpty) {
          Some(AsOfComparison(second, first, written.head, !backward))
        } else {
          None
        }
      }
    case _ => None
  }

  private def backward(expression: Expression): Option[Boolean] = expression match {
    case _: GreaterThanOrEqual | _: GreaterThan => Some(true)
    case _: LessThanOrEqual | _: LessThan => Some(false)
    case _ => None
  }
}
