package io.github.sparkjoinery.parser

import scala.util.control.ControlThrowable

import org.antlr.v4.runtime.{CommonTokenStream, ListTokenSource, Token}

import org.apache.spark.sql.catalyst.parser.SqlBaseParser
import org.apache.spark.sql.catalyst.parser.SqlBaseParser.SortItemContext

import scala.jdk.CollectionConverters._

/** Thrown when the words LAST JOIN stood in a string or a comment only. */
private[parser] case object NoLastJoin extends ControlThrowable

/** Parses one statement that may contain LAST JOIN; not reusable, as it keeps what it found. */
private[parser] class LastJoinParser extends StatementParser {

  override val astBuilder: LastJoinAstBuilder = new LastJoinAstBuilder

  // Spark parses a second time, with full lookahead, what its fast mode could not: same tokens again.
  private var statement: Option[LastJoinTokens] = None

  override protected def prepare(parser: SqlBaseParser): Unit = {
    val tokens = statement.getOrElse(LastJoinTokens.rewrite(parser))
    statement = Some(tokens)
    if (tokens.joins.isEmpty) throw NoLastJoin
    astBuilder.lastJoins = tokens.joins.map { join =>
      join.startIndex -> parseOrder(parser, join.order)
    }.toMap
    read(parser, tokens.rewritten)
  }

  private def parseOrder(parser: SqlBaseParser, order: Seq[Token]): Seq[SortItemContext] = {
    if (order.isEmpty) return Nil
    read(parser, order)
    val items = Seq.newBuilder[SortItemContext]
    items += parser.sortItem()
    while (parser.getCurrentToken.getType == SqlBaseParser.COMMA) {
      parser.consume()
      items += parser.sortItem()
    }
    parser.`match`(Token.EOF) // anything else here is a syntax error at its own place
    items.result()
  }

  private def read(parser: SqlBaseParser, tokens: Seq[Token]): Unit =
    parser.setTokenStream(new CommonTokenStream(new ListTokenSource(tokens.asJava)))
}
