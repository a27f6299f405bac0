package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Unevaluable}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.trees.TreePattern.TreePattern
import org.apache.spark.sql.types.{BooleanType, DataType}

/**
 * Marks the right child of an INNER or LEFT OUTER `Join` that is really an ASOF JOIN, from the parser to
 * [[io.github.sparkjoinery.lastjoin.rules.PlanAsOfJoin]]. The MATCH_CONDITION is an [[AsOfMatch]] in the join's
 * condition, where the analyzer resolves it against both sides.
 *
 * @param stage
 *   where the MATCH_CONDITION of a join with USING is: Spark drops the condition of such a join when it puts the
 *   equalities in its place
 */
case class AsOfRight(child: LogicalPlan, stage: AsOfRight.Stage) extends UnaryNode {
  override val nodePatterns: Seq[TreePattern] = Seq(LastJoin.Pattern)
  override def output: Seq[Attribute] = child.output
  override def maxRows: Option[Long] = child.maxRows

  /**
   * Not before [[io.github.sparkjoinery.lastjoin.rules.KeepMatchCondition]] has the condition safe: USING waits for
   * that.
   */
  override lazy val resolved: Boolean = childrenResolved && stage != AsOfRight.BeforeUsing

  override protected def withNewChildInternal(newChild: LogicalPlan): AsOfRight = copy(child = newChild)
}

object AsOfRight {
  sealed trait Stage

  /** The MATCH_CONDITION is in the join's condition. */
  case object Ready extends Stage

  /** It is there, and Spark has not resolved USING yet. */
  case object BeforeUsing extends Stage

  /**
   * It is here while Spark resolves USING; being part of no expression, it is not resolved against the right side
   * alone.
   */
  case class Held(condition: Expression) extends Stage
}

/**
 * The condition of an ASOF JOIN. One expression rather than a conjunction, so that Spark makes the types of the
 * comparison one, and casts neither the operands that order the right side nor an ON that is not boolean.
 *
 * @param comparison
 *   the MATCH_CONDITION
 * @param operands
 *   both operands of the comparison as written; none if it is no comparison
 * @param on
 *   the condition after ON, or the equalities of USING
 */
case class AsOfMatch(comparison: Expression, operands: Seq[Expression], on: Option[Expression])
  extends Expression with Unevaluable {
  override val nodePatterns: Seq[TreePattern] = Seq(LastJoin.Pattern)
  override def children: Seq[Expression] = (comparison +: operands) ++ on
  override def dataType: DataType = BooleanType
  override def nullable: Boolean = true
  override def prettyName: String = "match_condition"
  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): AsOfMatch = {
    val (newOperands, newOn) = newChildren.tail.splitAt(operands.length)
    AsOfMatch(newChildren.head, newOperands, newOn.headOption)
  }
}

object AsOfMatch {

  /** @param comparison as the parser made it, before Spark makes the types of its operands one */
  def of(comparison: Expression, on: Option[Expression]): AsOfMatch =
    AsOfMatch(comparison, if (AsOfComparison.is(comparison)) comparison.children else Nil, on)
}
