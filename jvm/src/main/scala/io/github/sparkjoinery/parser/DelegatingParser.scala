package io.github.sparkjoinery.parser

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.{FunctionIdentifier, TableIdentifier}
import org.apache.spark.sql.execution.SparkSqlParser
import org.apache.spark.sql.types.{DataType, StructType}

/**
 * A parser that asks another one. It extends Spark's own parser, so that a method that a later Spark has added to
 * `ParserInterface` is there, too.
 *
 * @param delegate
 *   the parser of Spark or of the extension listed before
 */
private[parser] abstract class DelegatingParser(override protected val delegate: ParserInterface)
  extends SparkSqlParser with StatementsWithParameters with SplitStatements {

  override def parsePlan(sqlText: String): LogicalPlan = ask(sqlText)(_.parsePlan(sqlText))

  override def parseQuery(sqlText: String): LogicalPlan = ask(sqlText)(_.parseQuery(sqlText))

  override def parseExpression(sqlText: String): Expression = ask(sqlText)(_.parseExpression(sqlText))

  override def parseTableIdentifier(sqlText: String): TableIdentifier = delegate.parseTableIdentifier(sqlText)

  override def parseFunctionIdentifier(sqlText: String): FunctionIdentifier =
    delegate.parseFunctionIdentifier(sqlText)

  override def parseMultipartIdentifier(sqlText: String): Seq[String] = delegate.parseMultipartIdentifier(sqlText)

  override def parseTableSchema(sqlText: String): StructType = delegate.parseTableSchema(sqlText)

  override def parseDataType(sqlText: String): DataType = delegate.parseDataType(sqlText)

  override def parseRoutineParam(sqlText: String): StructType = delegate.parseRoutineParam(sqlText)
}
