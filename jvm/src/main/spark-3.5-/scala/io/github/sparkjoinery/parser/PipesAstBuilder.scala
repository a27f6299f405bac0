package io.github.sparkjoinery.parser

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.SparkSqlAstBuilder

/** Spark's AST builder. Before Spark 4.0 no statement has pipes. */
private[parser] abstract class PipesAstBuilder extends SparkSqlAstBuilder {
  protected def mark(plan: LogicalPlan): LogicalPlan
}
