package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Unevaluable}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.trees.TreePattern.TreePattern
import org.apache.spark.sql.types.{BooleanType, DataType}

/**
 * Marks the right child of an INNER or LEFT OUTER `Join` that is really an ASOF JOIN. The parser adds the mark,
 * [[io.github.sparkjoinery.lastjoin.rules.PlanAsOfJoin]] removes it. The MATCH_CONDITION is an [[AsOfMatch]] in the
 * join's condition, where the analyzer resolves it against both sides.
 *
 * @param stage
 *   the place of the MATCH_CONDITION. It moves only for a join with USING, because Spark replaces the condition of such
 *   a join by the equalities.
 */
case class AsOfRight(child: LogicalPlan, stage: AsOfRight.Stage) extends UnaryNode {
  override val nodePatterns: Seq[TreePattern] = Seq(LastJoin.Pattern)
  override def output: Seq[Attribute] = child.output
  override def maxRows: Option[Long] = child.maxRows

  /**
   * False until [[io.github.sparkjoinery.lastjoin.rules.KeepMatchCondition]] has put the MATCH_CONDITION aside: Spark
   * resolves USING only above resolved children.
   */
  override lazy val resolved: Boolean = childrenResolved && stage != AsOfRight.BeforeUsing

  override protected def withNewChildInternal(newChild: LogicalPlan): AsOfRight = copy(child = newChild)
}

object AsOfRight {
  sealed trait Stage

  /** The MATCH_CONDITION is in the join's condition. */
  case object Ready extends Stage

  /** The MATCH_CONDITION is in the join's condition, and Spark has not resolved USING yet. */
  case object BeforeUsing extends Stage

  /**
   * The MATCH_CONDITION is in this object while Spark resolves USING. This object is not an expression, so Spark does
   * not resolve the condition against the right side alone.
   */
  case class Held(condition: Expression) extends Stage
}

/**
 * The condition of an ASOF JOIN. It is one expression and not a conjunction. Spark therefore gives the operands of the
 * comparison one type, but casts neither `operands` nor an ON that is not boolean.
 *
 * @param comparison
 *   the MATCH_CONDITION
 * @param operands
 *   both operands of the comparison as written; empty if `comparison` is not a comparison
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

  /** @param comparison the MATCH_CONDITION as parsed, before Spark casts its operands to one type */
  def fromTerms(comparison: Expression, on: Option[Expression]): AsOfMatch =
    AsOfMatch(comparison, if (AsOfComparison.isAsOf(comparison)) comparison.children else Nil, on)
}
