package io.github.sparkjoinery.parser

import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.trees.Origin

/** Creates a syntax error. Before Spark 4.1 a `ParseException` has a start and a stop, from 4.1 on only a start. */
private[parser] object SyntaxError {
  def apply(at: Origin, messageParameters: Map[String, String]): ParseException = new ParseException(
    command = None,
    start = at,
    errorClass = "PARSE_SYNTAX_ERROR",
    messageParameters = messageParameters)
}
