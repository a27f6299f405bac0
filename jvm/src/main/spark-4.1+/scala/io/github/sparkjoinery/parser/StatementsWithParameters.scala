package io.github.sparkjoinery.parser

import org.apache.spark.sql.catalyst.parser.{ParameterContext, ParserInterface}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/**
 * Overrides `ParserInterface.parsePlanWithParameters`, which is new in Spark 4.1 and by default drops the parameters.
 */
trait StatementsWithParameters extends ParserInterface {
  protected def ask[T](sqlText: String)(call: ParserInterface => T): T

  override def parsePlanWithParameters(sqlText: String, parameters: ParameterContext): LogicalPlan =
    ask(sqlText)(_.parsePlanWithParameters(sqlText, parameters))
}
