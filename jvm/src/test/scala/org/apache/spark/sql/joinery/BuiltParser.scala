package org.apache.spark.sql.joinery

import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.execution.SparkSqlParser
import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}

/** The parser of a session that has some extensions, built as a session builds it. */
object BuiltParser {
  def apply(session: SparkSession, extensions: SparkSessionExtensions): ParserInterface =
    extensions.buildParser(session, new SparkSqlParser)
}
