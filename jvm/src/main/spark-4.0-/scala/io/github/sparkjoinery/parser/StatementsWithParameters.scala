package io.github.sparkjoinery.parser

import org.apache.spark.sql.catalyst.parser.ParserInterface

/**
 * `ParserInterface.parsePlanWithParameters` comes with Spark 4.1: before, `parsePlan` takes statements with parameters.
 */
trait StatementsWithParameters extends ParserInterface {
  protected def ask[T](sqlText: String)(call: ParserInterface => T): T
}
