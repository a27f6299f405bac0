package io.github.sparkjoinery.parser

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.parser.{NamedParameterContext, ParameterContext}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, OneRowRelation}
import org.apache.spark.sql.execution.SparkSqlParser

/** The parser's method for statements with parameters, which is new in Spark 4.1. */
class DelegatedParametersSuite extends AnyFunSuite {

  test("a statement without LAST JOIN goes to the delegate with its parameters") {
    var asked: (String, ParameterContext) = null
    val delegate = new SparkSqlParser {
      override def parsePlanWithParameters(sqlText: String, parameters: ParameterContext): LogicalPlan = {
        asked = (sqlText, parameters)
        OneRowRelation()
      }
    }
    val parameters = NamedParameterContext(Map.empty)
    assert(new JoineryParser(delegate).parsePlanWithParameters("SELECT 1", parameters) == OneRowRelation())
    assert(asked == ("SELECT 1", parameters))
  }
}
