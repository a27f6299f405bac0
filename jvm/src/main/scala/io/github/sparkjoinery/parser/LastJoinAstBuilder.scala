package io.github.sparkjoinery.parser

import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.parser.ParserUtils.withOrigin
import org.apache.spark.sql.catalyst.parser.SqlBaseParser._
import org.apache.spark.sql.catalyst.plans.UsingJoin
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.trees.CurrentOrigin

import io.github.sparkjoinery.lastjoin.logical.{AsOfMatch, AsOfRight, LastJoinRight, TimeWindows}
import io.github.sparkjoinery.planning.JoineryException

/**
 * Spark's AST builder, which then marks the joins that were LAST JOINs or ASOF JOINs in the user's text. It recognizes
 * them by their start position, which every plan node carries as its origin.
 */
private[parser] class LastJoinAstBuilder extends PipesAstBuilder {

  /** The ORDER BY terms of each LAST JOIN, by the index of its first character in the statement. */
  var lastJoins: Map[Int, Seq[SortItemContext]] = Map.empty

  /** The MATCH_CONDITION of each ASOF JOIN, by the index of its first character in the statement. */
  var asOfJoins: Map[Int, BooleanExpressionContext] = Map.empty

  /**
   * The error of a term that Spark's analyzer would misread. It is thrown later, as Spark wraps errors of a builder.
   */
  var refusal: Option[JoineryException] = None

  override def visitFromClause(ctx: FromClauseContext): LogicalPlan = mark(super.visitFromClause(ctx))

  override def visitRelation(ctx: RelationContext): LogicalPlan = mark(super.visitRelation(ctx))

  override protected def mark(plan: LogicalPlan): LogicalPlan = plan.transformDown {
    case join @ Join(_, right, joinType, on, _)
        if start(join).exists(asOfJoins.contains) && !right.isInstanceOf[AsOfRight] =>
      CurrentOrigin.withOrigin(join.origin) {
        val tree = asOfJoins(start(join).get)
        val condition = withOrigin(tree)(AsOfMatch.fromTerms(expression(tree), on.filter(_ != Literal.TrueLiteral)))
        val stage = if (joinType.isInstanceOf[UsingJoin]) AsOfRight.BeforeUsing else AsOfRight.Ready
        join.copy(right = AsOfRight(right, stage), condition = Some(condition))
      }
    case join @ Join(_, right, _, _, _) if isLastJoin(join) && !right.isInstanceOf[LastJoinRight] =>
      val items = lastJoins(join.origin.startIndex.get)
      CurrentOrigin.withOrigin(join.origin) {
        val order = items.map(visitSortItem)
        refusal = refusal.orElse(order.flatMap(TimeWindows.refusal("ORDER BY")(_)).headOption)
        join.copy(right = LastJoinRight(order, right))
      }
  }

  private def isLastJoin(join: Join): Boolean = start(join).exists(lastJoins.contains)

  private def start(join: Join): Option[Int] = join.origin.startIndex
}
