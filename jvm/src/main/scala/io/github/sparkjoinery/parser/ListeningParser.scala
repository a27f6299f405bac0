package io.github.sparkjoinery.parser

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.SparkSqlParser

/** Spark's parser, with a hook that sees each statement and each expression before Spark reads it. */
private[parser] abstract class ListeningParser extends SparkSqlParser with StatementsWithParameters {

  override def parsePlan(sqlText: String): LogicalPlan = ask(sqlText)(_.parsePlan(sqlText))

  override def parseQuery(sqlText: String): LogicalPlan = ask(sqlText)(_.parseQuery(sqlText))

  override def parseExpression(sqlText: String): Expression = ask(sqlText)(_.parseExpression(sqlText))
}
