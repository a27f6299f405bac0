package io.github.sparkjoinery.parser

import scala.collection.mutable

import org.antlr.v4.runtime.{CommonToken, Token}

import io.github.sparkjoinery.parser.LastJoinTokens.{fail, nameOf, retyped}

/**
 * A statement's tokens with each `[INNER|LEFT] ASOF JOIN r MATCH_CONDITION (...)` turned into `INNER JOIN r` or `LEFT
 * JOIN r` with the same ON or USING, or with `ON true`.
 *
 * @param rewritten
 *   tokens that Spark's grammar accepts, each still at its place in the user's text
 * @param joins
 *   the ASOF JOINs found
 */
private[parser] case class AsOfJoinTokens(rewritten: IndexedSeq[Token], joins: Seq[AsOfJoinTokens.Found])

private[parser] object AsOfJoinTokens {

  /**
   * @param startIndex
   *   index of the join's first character
   * @param condition
   *   tokens between the parentheses, closed by an end-of-file token in the place of the second one
   */
  case class Found(startIndex: Int, condition: Seq[Token])

  private val words = new AdjacentWords("asof", "join")

  /** @param sqlText a statement after the substitution of variables */
  def mayOccurIn(sqlText: String): Boolean = words.mayOccurIn(sqlText)

  /** Whether ASOF JOIN may begin at a place; without a MATCH_CONDITION, `asof` is an alias. */
  def isAsOfJoin(tokens: IndexedSeq[Token], i: Int): Boolean =
    mayBegin(tokens, i) && tokens.indices.drop(i).exists(isMatchCondition(tokens, _))

  private def mayBegin(tokens: IndexedSeq[Token], i: Int): Boolean =
    isWord(tokens, i, "ASOF") && nameOf(tokens, i + 1) == "JOIN" && i > 0 &&
      !LastJoinTokens.NotALeftSide(nameOf(tokens, i - 1))

  private def isMatchCondition(tokens: IndexedSeq[Token], i: Int): Boolean =
    isWord(tokens, i, "MATCH_CONDITION") && nameOf(tokens, i + 1) == "LEFT_PAREN"

  // By its text: before Spark 4.3 the words are ordinary identifiers.
  private def isWord(tokens: IndexedSeq[Token], i: Int, word: String): Boolean =
    i < tokens.length && tokens(i).getText.equalsIgnoreCase(word)

  private val OtherJoins = Set("RIGHT", "FULL", "OUTER", "CROSS", "SEMI", "ANTI", "NATURAL")

  /** @param tokens a statement, as Spark's lexer made it, without white space and comments */
  def rewrite(tokens: IndexedSeq[Token]): AsOfJoinTokens = new Rewriter(tokens).result()

  private class Rewriter(tokens: IndexedSeq[Token]) {
    private val dropped = mutable.BitSet.empty
    private val changed = mutable.Map.empty[Int, String]
    private val joins = mutable.ArrayBuffer.empty[Found]

    private def name(i: Int): String = nameOf(tokens, i)

    def result(): AsOfJoinTokens = {
      if (!LastJoinTokens.isFreeText(tokens)) {
        for (i <- tokens.indices if mayBegin(tokens, i) && !dropped(i)) read(i)
      }
      val rewritten = tokens.indices.collect {
        case i if changed.get(i).contains("TRUE") => literalTrue(tokens(i), tokens(closing(i)))
        case i if changed.contains(i) => retyped(tokens(i), changed(i))
        case i if !dropped(i) => tokens(i)
      }
      AsOfJoinTokens(rewritten, joins.toSeq)
    }

    private def literalTrue(first: Token, last: Token): Token = {
      val literal = retyped(first, "TRUE")
      literal.setText("true") // the value is read from the text
      literal.setStopIndex(last.getStopIndex) // so that errors show the join to its end
      literal
    }

    private def read(asOf: Int): Unit = {
      val prefix = (name(asOf - 2), name(asOf - 1)) match {
        case ("LEFT", "OUTER") => 2
        case (_, "LEFT" | "INNER") => 1
        case _ => 0
      }
      matchCondition(asOf + 2) match {
        case None if prefix > 0 =>
          fail(tokens(asOf), "ASOF JOIN needs MATCH_CONDITION (...) directly after its right side")
        case None => // `asof` is the alias of the table before it
        case Some(at) =>
          if (name(asOf + 2) == "LATERAL") fail(tokens(asOf + 2), "ASOF JOIN does not take LATERAL")
          val start = asOf - prefix
          if (OtherJoins(name(start - 1))) fail(tokens(start - 1), "an ASOF JOIN is an INNER or a LEFT one")
          val close = closing(at + 1)
          val end = new CommonToken(tokens(close))
          end.setType(Token.EOF)
          joins += Found(tokens(start).getStartIndex, tokens.slice(at + 2, close) :+ end)
          if (prefix > 0) dropped += asOf else changed += asOf -> "INNER"
          dropped ++= at to close
          // Without it, a word that follows would be the alias of the right side.
          if (name(close + 1) != "ON" && name(close + 1) != "USING") changed ++= Seq(at -> "ON", at + 1 -> "TRUE")
      }
    }

    /** Where MATCH_CONDITION stands after a right side that starts at `from`. */
    private def matchCondition(from: Int): Option[Int] = {
      val rowsFollowCommas = name(from) == "VALUES"
      var depth = 0
      var i = from
      while (i < tokens.length) {
        name(i) match {
          case "LEFT_PAREN" | "LEFT_BRACKET" => depth += 1
          case "RIGHT_PAREN" | "RIGHT_BRACKET" => depth -= 1
          case _ if depth > 0 || name(i - 1) == "DOT" =>
          case _ if i > from && isMatchCondition(i) => return Some(i)
          case "COMMA" if rowsFollowCommas =>
          case "ON" | "USING" | "COMMA" | "LEFT" | "RIGHT" => return None
          case _ if LastJoinTokens.isOfRightSide(tokens, i, from)(isMatchCondition) =>
          case other if LastJoinTokens.AfterJoin(other) => if (i > from || other != "LATERAL") return None
          case _ =>
        }
        if (depth < 0) return None
        i += 1
      }
      None
    }

    private def isMatchCondition(i: Int): Boolean = AsOfJoinTokens.isMatchCondition(tokens, i)

    private def closing(open: Int): Int = {
      var depth = 0
      var i = open
      while (i < tokens.length) {
        if (name(i) == "LEFT_PAREN") depth += 1
        if (name(i) == "RIGHT_PAREN") depth -= 1
        if (depth == 0) return i
        i += 1
      }
      fail(tokens(open), "this parenthesis of MATCH_CONDITION is never closed")
    }
  }
}
