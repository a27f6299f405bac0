package io.github.sparkjoinery.parser

import scala.jdk.CollectionConverters._

import org.antlr.v4.runtime.{CommonToken, CommonTokenStream, Token}

import org.apache.spark.sql.catalyst.parser.SqlBaseParser
import org.apache.spark.sql.catalyst.trees.Origin

/**
 * The words of a statement, by their names in Spark's grammar.
 *
 * @param tokens
 *   the tokens of Spark's lexer, without white space and comments
 */
private[parser] class StatementTokens(val tokens: IndexedSeq[Token]) {
  import StatementTokens._

  val words: JoinWords = new JoinWords(
    tokens.length,
    i => SqlBaseParser.VOCABULARY.getSymbolicName(tokens(i).getType),
    i => tokens(i).getText)

  def indices: Range = tokens.indices

  /** The grammar's name of the token at a position; empty outside the statement. */
  def name(i: Int): String = words.name(i)

  /** Returns the position of the bracket that closes one opened before `from`, or the end of the statement. */
  def closing(from: Int): Int = {
    var depth = 0
    (from until tokens.length).find { i =>
      if (Opening(name(i))) depth += 1
      if (Closing(name(i))) depth -= 1
      depth < 0
    }.getOrElse(tokens.length)
  }

  /**
   * Iterates over the positions from `from` to [[closing]]. It skips brackets with their content, and names such as
   * `r.on` and `:on`.
   */
  def wordsFrom(from: Int): Iterator[Int] = {
    val end = closing(from)
    def next(i: Int): Int = if (Opening(name(i))) closing(i + 1) + 1 else i + 1
    Iterator.iterate(from)(next).takeWhile(_ < end)
      .filterNot(i => Opening(name(i)) || BeforeAnyName(name(i - 1)))
  }

  /** Returns the tokens of a clause that is parsed separately. An end-of-file token replaces the one at `end`. */
  def clause(from: Int, end: Int): Seq[Token] = tokens.slice(from, end) :+ {
    val last = new CommonToken(tokens(end))
    last.setType(Token.EOF)
    last
  }

  /** Returns the token with another type. The grammar reads it as another word, and messages show the user's word. */
  def retyped(i: Int, name: String): CommonToken = {
    val changed = new CommonToken(tokens(i))
    changed.setType(typeOf(name))
    changed
  }

  def fail(at: Int, hint: String): Nothing = StatementTokens.fail(tokens(at), hint)
}

private[parser] object StatementTokens {
  private val Opening = Set("LEFT_PAREN", "LEFT_BRACKET")
  private val Closing = Set("RIGHT_PAREN", "RIGHT_BRACKET")
  private val BeforeAnyName = Set("DOT", "COLON")

  // Token numbers differ between Spark versions, and scalac would inline the constants.
  private lazy val typeOf: Map[String, Int] = {
    val vocabulary = SqlBaseParser.VOCABULARY
    (1 to vocabulary.getMaxTokenType).map(t => vocabulary.getSymbolicName(t) -> t).toMap
  }

  /** @param parser a parser whose token stream holds the statement, as Spark's lexer made it */
  def read(parser: SqlBaseParser): StatementTokens = {
    val stream = parser.getTokenStream.asInstanceOf[CommonTokenStream]
    stream.fill()
    new StatementTokens(stream.getTokens.asScala.filter(_.getChannel == Token.DEFAULT_CHANNEL).toIndexedSeq)
  }

  /** Throws a syntax error at a token, in Spark's words. */
  def fail(at: Token, hint: String): Nothing = throw SyntaxError(
    Origin(Some(at.getLine), Some(at.getCharPositionInLine), Some(at.getStartIndex), Some(at.getStopIndex)),
    Map("error" -> s"'${at.getText}'", "hint" -> s": $hint")
  )
}
