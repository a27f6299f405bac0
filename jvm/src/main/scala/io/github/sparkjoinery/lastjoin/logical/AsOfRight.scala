package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.trees.TreePattern.TreePattern

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
