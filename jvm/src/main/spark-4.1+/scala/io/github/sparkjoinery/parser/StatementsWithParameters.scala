package io.github.sparkjoinery.parser

import org.apache.spark.sql.catalyst.parser.{ParameterContext, ParserInterface}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** `ParserInterface.parsePlanWithParameters` comes with Spark 4.1; what it does by itself drops the parameters. */
trait StatementsWithParameters extends ParserInterface {
  protected def ask[T](sqlText: String)(call: ParserInterface => T): T

  override def parsePlanWithParameters(sqlText: String, parameters: ParameterContext): LogicalPlan =
    ask(sqlText)(_.parsePlanWithParameters(sqlText, parameters))
}
