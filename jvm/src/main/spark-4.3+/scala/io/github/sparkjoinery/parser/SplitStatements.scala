package io.github.sparkjoinery.parser

import org.apache.spark.sql.catalyst.parser.{ParserInterface, SqlStatementSplitResult}

/** `ParserInterface.splitStatements` comes with Spark 4.3, as an abstract method. */
trait SplitStatements extends ParserInterface {
  protected def delegate: ParserInterface

  override def splitStatements(sqlText: String): SqlStatementSplitResult = delegate.splitStatements(sqlText)
}
