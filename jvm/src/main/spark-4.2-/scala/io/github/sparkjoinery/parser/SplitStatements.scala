package io.github.sparkjoinery.parser

import org.apache.spark.sql.catalyst.parser.ParserInterface

/** `ParserInterface.splitStatements` comes with Spark 4.3: nothing to forward before. */
trait SplitStatements extends ParserInterface {
  protected def delegate: ParserInterface
}
