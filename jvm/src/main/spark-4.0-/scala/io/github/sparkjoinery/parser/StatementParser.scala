package io.github.sparkjoinery.parser

import org.antlr.v4.runtime.tree.ParseTree

import org.apache.spark.sql.catalyst.parser.SqlBaseParser
import org.apache.spark.sql.execution.SparkSqlParser

/**
 * Spark's parser with a hook before the grammar reads the tokens. Before Spark 4.1 the analyzer binds parameters, so a
 * statement is parsed only once.
 */
abstract class StatementParser extends SparkSqlParser {

  /**
   * Called with a parser over the tokens of a statement; it may replace them.
   *
   * @return
   *   the parts that it took out of the statement and parsed separately
   */
  protected def prepare(parser: SqlBaseParser): Seq[ParseTree]

  override protected def parse[T](command: String)(toResult: SqlBaseParser => T): T =
    super.parse(command) { parser => prepare(parser); toResult(parser) }
}
