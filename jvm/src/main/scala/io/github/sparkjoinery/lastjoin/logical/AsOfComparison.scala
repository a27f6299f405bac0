package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/**
 * The comparison of an ASOF JOIN, with its operands assigned to the left and the right side.
 *
 * @param left
 *   the operand over the left side
 * @param right
 *   the operand over the right side
 * @param order
 *   the right operand without the cast that makes the types equal; the right rows are ordered by it
 * @param backward
 *   true for `left >= right` and `left > right`: the match is the latest right row at or before the left one. False:
 *   the match is the earliest right row at or after it.
 */
case class AsOfComparison(left: Expression, right: Expression, order: Expression, backward: Boolean)

object AsOfComparison {

  /** True for the comparisons `>=`, `>`, `<=` and `<`. */
  def isAsOf(expression: Expression): Boolean = backward(expression).isDefined

  /**
   * Assigns the operands to the sides. Returns None unless one operand is over the left side alone, the other over the
   * right.
   *
   * @param written
   *   the operands as written, in the order of the comparison
   */
  def find(
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
