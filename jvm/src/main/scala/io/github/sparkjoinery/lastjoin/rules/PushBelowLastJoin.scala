package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.LeftSemiOrAnti
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule

import io.github.sparkjoinery.lastjoin.logical.LastJoin

/**
 * Pushes operators that select some left rows to the left side of a LAST JOIN, which has one row for each left row:
 *   - LIMIT, as Spark does with LEFT JOIN: fewer left rows are shuffled
 *   - `ORDER BY left columns LIMIT n`
 *   - a LEFT SEMI or LEFT ANTI JOIN on left columns, as Spark does with LEFT JOIN
 *
 * The latter two stay above a projection that numbers rows or draws random values, because fewer rows would change its
 * columns. A join with a stream stays above: it may return a left row batches after that row was joined.
 */
object PushBelowLastJoin extends Rule[LogicalPlan] with AliasHelper {
  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformDownWithPruning(_.containsPattern(LastJoin.Pattern)) {
      case limit @ LocalLimit(IntegerLiteral(rows), MaybeProject(list, join))
          if join.left.maxRowsPerPartition.forall(_ > rows) =>
        limit.copy(child = withLeft(list, join, LocalLimit(limit.limitExpr, join.left)))

      case limit @ LocalLimit(IntegerLiteral(rows), sort @ TopRowsOfLeft(list, join, order))
          if rows < conf.topKSortFallbackThreshold && join.left.maxRows.forall(_ > rows) =>
        val topRows = Limit(limit.limitExpr, sort.copy(order = order, child = join.left))
        limit.copy(child = sort.copy(child = withLeft(list, join, topRows)))

      case semi @ Join(MaybeProject(list, join), right, LeftSemiOrAnti(_), condition, _)
          if !right.isStreaming && list.forall(_.forall(_.deterministic)) &&
            condition.forall(isOver(_, join.left, right)) && join.outputSet.intersect(right.outputSet).isEmpty =>
        withLeft(list, join, semi.withNewChildren(Seq(join.left, right)))
    }

  private def isOver(condition: Expression, sides: LogicalPlan*): Boolean =
    condition.references.subsetOf(AttributeSet(sides.flatMap(_.output)))

  private def withLeft(list: Option[Seq[NamedExpression]], join: LastJoin, left: LogicalPlan): LogicalPlan = {
    val shorter = join.withNewChildren(Seq(left, join.right)) // keeps the join's tags
    list.fold(shorter)(Project(_, shorter))
  }

  private object MaybeProject {
    def unapply(plan: LogicalPlan): Option[(Option[Seq[NamedExpression]], LastJoin)] = plan match {
      case join: LastJoin => Some((None, join))
      case Project(list, join: LastJoin) => Some((Some(list), join))
      case _ => None
    }
  }

  /** Extracts a sort of a LAST JOIN by left columns, with its terms over the left side. */
  private object TopRowsOfLeft {
    def unapply(sort: Sort): Option[(Option[Seq[NamedExpression]], LastJoin, Seq[SortOrder])] = sort.child match {
      case MaybeProject(list, join) if sort.global && list.forall(_.forall(_.deterministic)) =>
        val aliases = getAliasMap(list.getOrElse(Nil))
        val order = sort.order.map(term => term.copy(replaceAlias(term.child, aliases), sameOrderExpressions = Nil))
        if (order.forall(term => term.deterministic && isOver(term, join.left))) Some((list, join, order)) else None
      case _ => None
    }
  }
}
