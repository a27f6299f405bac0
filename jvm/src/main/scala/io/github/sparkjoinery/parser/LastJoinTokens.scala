package io.github.sparkjoinery.parser

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.antlr.v4.runtime.{CommonToken, CommonTokenStream, Token}

import org.apache.spark.sql.catalyst.parser.SqlBaseParser
import org.apache.spark.sql.catalyst.trees.Origin

/**
 * A statement's tokens with each `LAST JOIN r ORDER BY terms ON ...` turned into `LEFT JOIN r ON ...`.
 *
 * @param rewritten
 *   tokens that Spark's grammar accepts, each still at its place in the user's text
 * @param joins
 *   the LAST JOINs found
 */
private[parser] case class LastJoinTokens(rewritten: Seq[Token], joins: Seq[LastJoinTokens.Found])

private[parser] object LastJoinTokens {

  /**
   * @param startIndex
   *   index of the join's first character (of NATURAL, if that stands before LAST)
   * @param order
   *   tokens of the ORDER BY clause, closed by an end-of-file token in the place of ON or USING
   */
  case class Found(startIndex: Int, order: Option[Seq[Token]])

  private val words = new AdjacentWords("last", "join")

  /** @param sqlText a statement after the substitution of variables */
  def mayOccurIn(sqlText: String): Boolean = words.mayOccurIn(sqlText)

  // What may follow a join without ON or USING. LEFT and RIGHT are functions, too, before a parenthesis.
  val AfterJoin = Set(
    "JOIN",
    "INNER",
    "CROSS",
    "FULL",
    "SEMI",
    "ANTI",
    "NATURAL",
    "LATERAL",
    "WHERE",
    "GROUP",
    "HAVING",
    "UNION",
    "INTERSECT",
    "EXCEPT",
    "SETMINUS",
    "LIMIT",
    "OFFSET",
    "WINDOW",
    "CLUSTER",
    "DISTRIBUTE",
    "SORT",
    "PIVOT",
    "UNPIVOT",
    "QUALIFY",
    "SEMICOLON",
    "OPERATOR_PIPE",
    "EOF"
  )

  // Of these, the words that Spark takes as the alias of a table, too.
  private val AliasToo =
    Set("WHERE", "GROUP", "HAVING", "LIMIT", "OFFSET", "WINDOW", "CLUSTER", "DISTRIBUTE", "SORT") ++
      Set("PIVOT", "UNPIVOT", "QUALIFY")

  // After these, any word is a name: `r.on`, `r.json:on`, the parameter `:on`.
  private val BeforeAnyName = Set("DOT", "COLON")
  // After these, a word of AfterJoin is a name (`ORDER BY offset`).
  private val BeforeName = Set("BY", "COMMA", "AS")
  // The same in ORDER BY, where an operand is yet to come (`ORDER BY -offset`).
  private val BeforeOperand = Set("PLUS", "MINUS", "ASTERISK", "SLASH", "PERCENT", "DIV", "TILDE", "CONCAT_PIPE") ++
    Set("PIPE", "AMPERSAND", "HAT", "EQ", "NSEQ", "NEQ", "NEQJ", "LT", "LTE", "GT", "GTE") ++
    Set("SHIFT_LEFT", "SHIFT_RIGHT", "SHIFT_RIGHT_UNSIGNED", "BANG", "FROM") ++ // FROM is of IS DISTINCT FROM
    Set("AND", "OR", "NOT", "BETWEEN", "LIKE", "ILIKE", "RLIKE", "CASE", "WHEN", "THEN", "ELSE")

  // Before these, LAST is a name (`FROM last JOIN r`, `db.last JOIN r`, `t AS last JOIN r`, `:last JOIN r`, `ON v = last
  // JOIN r`) or part of NULLS LAST, not a join that has a left side. A type may end in `>`, and its cast a condition.
  val NotALeftSide: Set[String] =
    Set("FROM", "JOIN", "COMMA", "DOT", "COLON", "AS", "LEFT_PAREN", "NULLS", "TABLE", "LATERAL") ++
      Set("USING", "INTO", "UPDATE") ++ BeforeOperand -- Set("GT", "SHIFT_RIGHT", "SHIFT_RIGHT_UNSIGNED")

  /** @param parser a parser whose token stream holds the statement, as Spark's lexer made it */
  def tokensOf(parser: SqlBaseParser): IndexedSeq[Token] = {
    val stream = parser.getTokenStream.asInstanceOf[CommonTokenStream]
    stream.fill()
    stream.getTokens.asScala.filter(_.getChannel == Token.DEFAULT_CHANNEL).toIndexedSeq
  }

  /** @param tokens a statement, as [[tokensOf]] gives it */
  def rewrite(tokens: IndexedSeq[Token]): LastJoinTokens = new Rewriter(tokens).result()

  // Numbers of tokens differ between Spark versions; scalac would inline the constants.
  private lazy val typeOf: Map[String, Int] = {
    val vocabulary = SqlBaseParser.VOCABULARY
    (1 to vocabulary.getMaxTokenType).map(t => vocabulary.getSymbolicName(t) -> t).toMap
  }

  /**
   * Whether a word of [[AfterJoin]] is the name or the alias of a right side.
   *
   * @param from
   *   where the right side starts
   * @param endsAt
   *   whether what comes behind a right side begins at a place
   */
  def isOfRightSide(tokens: IndexedSeq[Token], i: Int, from: Int)(endsAt: Int => Boolean): Boolean = {
    val name = nameOf(tokens, i)
    AliasToo(name) && (i == from || nameOf(tokens, i - 1) == "AS" || endsAt(i + 1))
  }

  /** The grammar's name of the token at a place, or nothing outside the statement. */
  def nameOf(tokens: IndexedSeq[Token], i: Int): String =
    if (i < 0 || i >= tokens.length) "" else SqlBaseParser.VOCABULARY.getSymbolicName(tokens(i).getType)

  /** A token that the grammar reads as another word, and messages still as the user's. */
  def retyped(token: Token, name: String): CommonToken = {
    val changed = new CommonToken(token)
    changed.setType(typeOf(name))
    changed
  }

  /** Whether LAST JOIN begins at a place, rather than a name or an alias `last`. */
  def isLastJoin(tokens: IndexedSeq[Token], i: Int): Boolean =
    nameOf(tokens, i) == "LAST" && nameOf(tokens, i + 1) == "JOIN" && i > 0 && !NotALeftSide(nameOf(tokens, i - 1))

  private val TakesAnyText = Set("ADD", "LIST", "REFRESH", "RESET")

  /** Whether a statement takes any text: `SET key=value` as the value, `ADD FILE path` and its kind as a path. */
  def isFreeText(tokens: IndexedSeq[Token]): Boolean = nameOf(tokens, 0) match {
    case "SET" => nameOf(tokens, 1) != "VAR" && nameOf(tokens, 1) != "VARIABLE"
    case first => TakesAnyText(first)
  }

  private class Rewriter(tokens: IndexedSeq[Token]) {
    private val dropped = mutable.BitSet.empty
    private val joins = mutable.ArrayBuffer.empty[Found]

    private def name(i: Int): String = nameOf(tokens, i)

    def result(): LastJoinTokens = {
      val lasts = if (isFreeText(tokens)) Nil else tokens.indices.filter(isLastJoin)
      lasts.foreach(read)
      val rewritten = tokens.indices.collect {
        case i if lasts.contains(i) => retyped(tokens(i), "LEFT")
        case i if !dropped(i) => tokens(i)
      }
      LastJoinTokens(rewritten, joins.toSeq)
    }

    private def isLastJoin(i: Int): Boolean = LastJoinTokens.isLastJoin(tokens, i)

    private def read(last: Int): Unit = {
      if (name(last + 2) == "LATERAL") fail(last + 2, "LAST JOIN does not take LATERAL")
      val natural = name(last - 1) == "NATURAL"
      val (orderBy, criteria) = clauses(last + 2)
      if (criteria.isEmpty && !natural) {
        fail(
          last,
          "LAST JOIN needs ON or USING after its right side and ORDER BY (`ON true` takes every row). If `last` " +
            "is meant as the alias of the table before it, write AS last, or set spark.joinery.lastJoin.enabled to false"
        )
      }
      if (criteria.nonEmpty && natural) fail(criteria.get, "NATURAL LAST JOIN takes neither ON nor USING")
      val order = for (from <- orderBy.toSeq; to <- criteria.toSeq; i <- from until to) yield i
      dropped ++= order
      val start = if (natural) last - 1 else last
      joins += Found(tokens(start).getStartIndex, orderClause(order, criteria))
    }

    /** Where the ORDER BY and the ON or USING of a join stand whose right side starts at `from`. */
    private def clauses(from: Int): (Option[Int], Option[Int]) = {
      var orderBy: Option[Int] = None
      val rowsFollowCommas = name(from) == "VALUES"
      var depth = 0
      var i = from
      while (i < tokens.length) {
        name(i) match {
          case "LEFT_PAREN" | "LEFT_BRACKET" => depth += 1
          case "RIGHT_PAREN" | "RIGHT_BRACKET" => depth -= 1
          case _ if depth > 0 || BeforeAnyName(name(i - 1)) =>
          case "ON" | "USING" => return (orderBy, Some(i))
          case "ORDER" if name(i + 1) == "BY" => orderBy = orderBy.orElse(Some(i))
          case "LEFT" | "RIGHT" if name(i + 1) != "LEFT_PAREN" => return (orderBy, None)
          case "COMMA" if orderBy.isEmpty && !rowsFollowCommas => return (None, None)
          case _ if orderBy.isEmpty && isOfRightSide(tokens, i, from)(isClause) =>
          case other if AfterJoin(other) && !isName(i, orderBy.nonEmpty) || isLastJoin(i) => return (orderBy, None)
          case _ =>
        }
        if (depth < 0) return (orderBy, None)
        i += 1
      }
      (orderBy, None)
    }

    private def isClause(i: Int): Boolean =
      name(i) == "ON" || name(i) == "USING" || name(i) == "ORDER" && name(i + 1) == "BY"

    private def isName(i: Int, inOrderBy: Boolean): Boolean =
      BeforeName(name(i - 1)) || inOrderBy && BeforeOperand(name(i - 1))

    private def orderClause(order: Seq[Int], criteria: Option[Int]): Option[Seq[Token]] =
      criteria.filter(_ => order.nonEmpty).map { at =>
        val end = new CommonToken(tokens(at))
        end.setType(Token.EOF)
        order.map(i => tokens(i)) :+ end
      }

    private def fail(at: Int, hint: String): Nothing = LastJoinTokens.fail(tokens(at), hint)
  }

  /** A syntax error at a token, as Spark words it. */
  def fail(at: Token, hint: String): Nothing = throw SyntaxError(
    Origin(Some(at.getLine), Some(at.getCharPositionInLine), Some(at.getStartIndex), Some(at.getStopIndex)),
    Map("error" -> s"'${at.getText}'", "hint" -> s": $hint")
  )
}
