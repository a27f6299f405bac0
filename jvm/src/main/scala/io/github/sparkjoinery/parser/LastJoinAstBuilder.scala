package io.github.sparkjoinery.parser

import org.apache.spark.sql.catalyst.parser.SqlBaseParser._
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.execution.SparkSqlAstBuilder

import io.github.sparkjoinery.logical.LastJoinRight

/**
 * Spark's AST builder, which then marks those LEFT JOINs that were LAST JOINs in the user's text. They
 * are known by the place where they start: every plan node carries it as its origin.
 */
private[parser] class LastJoinAstBuilder extends SparkSqlAstBuilder {

  /** The ORDER BY terms of each LAST JOIN, by the index of its first character in the statement. */
  var lastJoins: Map[Int, Seq[SortItemContext]] = Map.empty

  override def visitFromClause(ctx: FromClauseContext): LogicalPlan = mark(super.visitFromClause(ctx))

  override def visitRelation(ctx: RelationContext): LogicalPlan = mark(super.visitRelation(ctx))

  override def visitOperatorPipeStatement(ctx: OperatorPipeStatementContext): LogicalPlan =
    mark(super.visitOperatorPipeStatement(ctx))

  private def mark(plan: LogicalPlan): LogicalPlan = plan.transformDown {
    case join @ Join(_, right, _, _, _) if isLastJoin(join) && !right.isInstanceOf[LastJoinRight] =>
      val items = lastJoins(join.origin.startIndex.get)
      CurrentOrigin.withOrigin(join.origin) {
        join.copy(right = LastJoinRight(items.map(visitSortItem), right))
      }
  }

  private def isLastJoin(join: Join): Boolean = join.origin.startIndex.exists(lastJoins.contains)
}
