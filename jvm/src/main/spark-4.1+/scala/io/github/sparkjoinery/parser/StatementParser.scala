package io.github.sparkjoinery.parser

import org.apache.spark.sql.catalyst.parser.{ParameterContext, SqlBaseParser}
import org.apache.spark.sql.execution.SparkSqlParser

/** Spark's parser with a look at the tokens before the grammar sees them. */
abstract class StatementParser extends SparkSqlParser {

  /** Called with a parser over the lexed statement, variables and parameters already substituted. */
  protected def prepare(parser: SqlBaseParser): Unit

  override protected def parse[T](command: String)(toResult: SqlBaseParser => T): T =
    super.parse(command)(prepared(toResult))

  // New in 4.1: statements with parameters do not pass through `parse` any more.
  override def parseWithParameters[T](command: String, parameters: ParameterContext)(
      toResult: SqlBaseParser => T): T =
    super.parseWithParameters(command, parameters)(prepared(toResult))

  private def prepared[T](toResult: SqlBaseParser => T)(parser: SqlBaseParser): T = {
    prepare(parser)
    toResult(parser)
  }
}
