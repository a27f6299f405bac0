package io.github.sparkjoinery.parser

import scala.jdk.CollectionConverters._
import scala.util.control.ControlThrowable

import org.antlr.v4.runtime.tree.ParseTree
import org.antlr.v4.runtime.{CommonTokenStream, ListTokenSource, Token, TokenStream}

import org.apache.spark.sql.catalyst.parser.SqlBaseParser
import org.apache.spark.sql.catalyst.parser.SqlBaseParser.{BooleanExpressionContext, QueryOrganizationContext}
import org.apache.spark.sql.joinery.JoineryConf

/** Thrown if the words LAST JOIN or ASOF JOIN occur only in a string or a comment. */
private[parser] case object NoLastJoin extends ControlThrowable

/** Parses one statement that may contain LAST JOIN or ASOF JOIN. It keeps the found joins, so it is not reusable. */
private[parser] class LastJoinParser extends StatementParser {

  override val astBuilder: LastJoinAstBuilder = new LastJoinAstBuilder

  private var stream: TokenStream = _
  private var asOf: RewrittenStatement = _
  private var last: RewrittenStatement = _

  override protected def prepare(parser: SqlBaseParser): Seq[ParseTree] = {
    // If Spark's faster mode fails, Spark parses the statement again with the same parser, whose tokens are then
    // already rewritten.
    if (parser.getTokenStream ne stream) rewrite(StatementTokens.read(parser))
    if (last.joins.isEmpty && asOf.joins.isEmpty) throw NoLastJoin
    val conditions = asOf.joins.map(join => join.startIndex -> parseCondition(parser, join.clause.get))
    astBuilder.asOfJoins = conditions.toMap
    val orders = last.joins.map(join => join.startIndex -> join.clause.map(parseOrder(parser, _)))
    astBuilder.lastJoins = orders.map { case (start, order) =>
      start -> order.toSeq.flatMap(_.order.asScala)
    }.toMap
    read(parser, last.statement.tokens)
    orders.flatMap(_._2) ++ conditions.map(_._2)
  }

  private def rewrite(statement: StatementTokens): Unit = {
    asOf = if (JoineryConf.asOfJoinEnabled) AsOfJoinTokens.rewrite(statement) else RewrittenStatement(statement, Nil)
    last =
      if (JoineryConf.lastJoinEnabled) LastJoinTokens.rewrite(asOf.statement)
      else RewrittenStatement(asOf.statement, Nil)
  }

  private def parseCondition(parser: SqlBaseParser, condition: Seq[Token]): BooleanExpressionContext = {
    read(parser, condition)
    val tree = parser.booleanExpression()
    val next = parser.getCurrentToken
    if (next.getType != Token.EOF)
      StatementTokens.fail(next, "expected one comparison between the parentheses of MATCH_CONDITION")
    tree
  }

  private def parseOrder(parser: SqlBaseParser, order: Seq[Token]): QueryOrganizationContext = {
    read(parser, order)
    val clause = parser.queryOrganization()
    if (clause.order.isEmpty) StatementTokens.fail(order.head, "LAST JOIN's ORDER BY is not a list of terms")
    val next = parser.getCurrentToken
    if (next.getType != Token.EOF || clause.limit != null || clause.windowClause != null) {
      StatementTokens.fail(next, "expected a comma, ON or USING after an ORDER BY term of LAST JOIN")
    }
    clause
  }

  private def read(parser: SqlBaseParser, tokens: Seq[Token]): Unit = {
    stream = new CommonTokenStream(new ListTokenSource(tokens.asJava))
    parser.setTokenStream(stream)
  }
}
