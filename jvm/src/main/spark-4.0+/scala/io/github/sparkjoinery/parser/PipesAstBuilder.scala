package io.github.sparkjoinery.parser

import org.apache.spark.sql.catalyst.parser.SqlBaseParser.OperatorPipeStatementContext
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.SparkSqlAstBuilder

/** Spark's AST builder with a hook for statements with pipes, which are new in Spark 4.0. */
private[parser] abstract class PipesAstBuilder extends SparkSqlAstBuilder {
  protected def mark(plan: LogicalPlan): LogicalPlan

  override def visitOperatorPipeStatement(ctx: OperatorPipeStatementContext): LogicalPlan =
    mark(super.visitOperatorPipeStatement(ctx))
}
