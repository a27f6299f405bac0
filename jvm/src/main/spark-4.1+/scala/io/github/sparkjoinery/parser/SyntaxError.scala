package io.github.sparkjoinery.parser

import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.trees.Origin

/** From Spark 4.1 on a `ParseException` has one place; before, it had a second one, where the error ends. */
private[parser] object SyntaxError {
  def apply(at: Origin, messageParameters: Map[String, String]): ParseException = new ParseException(
    command = None,
    start = at,
    errorClass = "PARSE_SYNTAX_ERROR",
    messageParameters = messageParameters)
}
