package io.github.sparkjoinery.parser

import org.apache.spark.sql.catalyst.parser.ParserInterface

/**
 * Overrides nothing: `ParserInterface.parsePlanWithParameters` is new in Spark 4.1. Before, `parsePlan` reads
 * statements with parameters.
 */
trait StatementsWithParameters extends ParserInterface {
  protected def ask[T](sqlText: String)(call: ParserInterface => T): T
}
