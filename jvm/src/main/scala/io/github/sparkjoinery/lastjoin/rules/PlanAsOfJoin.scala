package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.{Inner, JoinType, LeftOuter}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.lastjoin.logical.{AsOfComparison, AsOfMatch, AsOfRight, LastJoin}
import io.github.sparkjoinery.planning.explain.Decision

/**
 * {{{
 *   Join LeftOuter, match(on), hint            LastJoin r.t, match AND on, hint
 *   :- left                              ==>   :- left
 *   +- AsOfRight                               +- right
 *      +- right
 * }}}
 * Rewrites Spark's own `AsOfJoin`, from the DataFrame API, in the same way. An inner join becomes the left join without
 * the rows that have no match. The rule runs where [[PlanLastJoin]] runs, for the same reasons.
 */
object PlanAsOfJoin extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (plan.containsPattern(LastJoin.Pattern)) {
      plan.transformUpWithSubqueries {
        case Join(left, AsOfRight(right, _), joinType, Some(AsOfMatch(comparison, operands, on)), hint) =>
          AsOfComparison.find(comparison, operands, left, right) match {
            case Some(sides) => lastJoin(left, right, sides, (comparison +: on.toSeq).reduce(And), joinType, hint)
            case None => throw new IllegalStateException(s"MATCH_CONDITION of unknown sides: ${comparison.sql}")
          }
        case join: AsOfJoin if JoineryConf.asOfJoinEnabled =>
          SparkAsOfJoin.comparison(join) match {
            case Right(sides) =>
              val condition = (join.asOfCondition +: join.condition.toSeq).reduce(And)
              lastJoin(join.left, join.right, sides, condition, join.joinType, JoinHint.NONE)
            case Left(reason) =>
              // Spark rewrites the join before it is planned; the order expression is the part that remains.
              Decision.record(join.orderExpression, Decision.LastJoin, reason)
              join
          }
      }
    } else {
      plan
    }

  /**
   * Builds the LAST JOIN. The last right row is the latest one. Forwards it is the earliest one, so the order is
   * descending.
   */
  private def lastJoin(
      left: LogicalPlan,
      right: LogicalPlan,
      sides: AsOfComparison,
      condition: Expression,
      joinType: JoinType,
      hint: JoinHint): LogicalPlan = {
    val bare = EliminateHintsBelowJoin(Join(left, right, LeftOuter, Some(condition), hint))
    val order =
      if (sides.order.references.isEmpty) Nil
      else if (sides.backward) Seq(SortOrder(sides.order, Ascending))
      else Seq(SortOrder(sides.order, Descending, NullsFirst, Nil))
    val join = LastJoin(bare.left, bare.right, order, bare.condition, bare.hint)
    ComputeBelowLastJoin(join) match {
      case computed @ Project(_, join: LastJoin) if joinType == Inner => computed.copy(child = inner(join))
      case join: LastJoin if joinType == Inner => inner(join)
      case outer => outer
    }
  }

  /**
   * Drops left rows without a match. The compared operand is NULL in no match. Only a bare column is surely NULL
   * without a match, so other operands need a marker column.
   */
  private def inner(join: LastJoin): LogicalPlan = join.order.headOption.map(_.child) match {
    case Some(column: Attribute) => matched(join, column)
    case _ =>
      val mark = Alias(Literal.TrueLiteral, "matched")()
      val marked = join.copy(right = Project(join.right.output :+ mark, join.right))
      Project(join.left.output ++ join.right.output, matched(marked, mark.toAttribute))
  }

  private def matched(join: LastJoin, column: Attribute): LogicalPlan =
    Filter(IsNotNull(column.withNullability(true)), join)
}
