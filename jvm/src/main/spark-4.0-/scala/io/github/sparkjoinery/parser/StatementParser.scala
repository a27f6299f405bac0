package io.github.sparkjoinery.parser

import org.antlr.v4.runtime.tree.ParseTree

import org.apache.spark.sql.catalyst.parser.SqlBaseParser
import org.apache.spark.sql.execution.SparkSqlParser

/**
 * Spark's parser with a look at the tokens before the grammar sees them. Before 4.1 the analyzer binds the parameters
 * of a statement, so that it is parsed once only.
 */
abstract class StatementParser extends SparkSqlParser {

  /**
   * Called with a parser over the lexed statement, whose tokens it may replace.
   *
   * @return
   *   what was taken out of the statement and parsed apart
   */
  protected def prepare(parser: SqlBaseParser): Seq[ParseTree]

  override protected def parse[T](command: String)(toResult: SqlBaseParser => T): T =
    super.parse(command) { parser => prepare(parser); toResult(parser) }
}
