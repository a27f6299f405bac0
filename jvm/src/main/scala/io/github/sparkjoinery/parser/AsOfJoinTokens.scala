package io.github.sparkjoinery.parser

import org.antlr.v4.runtime.Token

/**
 * Rewrites `[INNER|LEFT] ASOF JOIN r MATCH_CONDITION (...)` to `INNER JOIN r` or `LEFT JOIN r` with the same ON or
 * USING, or with `ON true`. The clause of the found join is the content of the parentheses.
 */
private[parser] object AsOfJoinTokens extends JoinSyntax {
  import JoinSyntax._

  private val OtherJoins = Set("RIGHT", "FULL", "OUTER", "CROSS", "SEMI", "ANTI", "NATURAL")

  override protected def read(statement: StatementTokens, asOf: Int): Option[FoundJoin] =
    if (!statement.words.mayBeginAsOfJoin(asOf)) None
    else {
      val prefix = (statement.name(asOf - 2), statement.name(asOf - 1)) match {
        case ("LEFT", "OUTER") => 2
        case (_, "LEFT" | "INNER") => 1
        case _ => 0
      }
      val condition = matchCondition(statement, asOf + 2)
      if (condition.isEmpty && prefix > 0)
        statement.fail(asOf, "ASOF JOIN needs MATCH_CONDITION (...) directly after its right side")
      condition.map(found(statement, asOf, prefix, _)) // else `asof` is the alias of the table before it
    }

  /**
   * @param prefix
   *   number of words before `asOf` that belong to the join
   * @param at
   *   the position of MATCH_CONDITION
   */
  private def found(statement: StatementTokens, asOf: Int, prefix: Int, at: Int): FoundJoin = {
    import statement.{name, retyped, tokens}
    if (name(asOf + 2) == "LATERAL") statement.fail(asOf + 2, "ASOF JOIN does not take LATERAL")
    val start = asOf - prefix
    if (OtherJoins(name(start - 1))) statement.fail(start - 1, "an ASOF JOIN is an INNER or a LEFT one")
    val close = statement.closing(at + 2)
    if (close == tokens.length) statement.fail(at + 1, "this parenthesis of MATCH_CONDITION is never closed")
    // Without ON, a word that follows would be the alias of the right side.
    val onTrue: Map[Int, Option[Token]] =
      if (name(close + 1) == "ON" || name(close + 1) == "USING") Map.empty
      else {
        val literal = retyped(at + 1, "TRUE")
        literal.setText("true") // the value is read from the text
        literal.setStopIndex(tokens(close).getStopIndex) // so that errors show the join to its end
        Map(at -> Some(retyped(at, "ON")), at + 1 -> Some(literal))
      }
    val left: Option[Token] = if (prefix > 0) None else Some(retyped(asOf, "INNER"))
    FoundJoin(
      tokens(start).getStartIndex,
      Some(statement.clause(at + 2, close)),
      (at to close).map(_ -> None).toMap ++ onTrue + (asOf -> left)
    )
  }

  /** Returns the position of MATCH_CONDITION after a right side that starts at `from`. */
  private def matchCondition(statement: StatementTokens, from: Int): Option[Int] = {
    import statement.name
    val rowsFollowCommas = name(from) == "VALUES"
    def isCondition(i: Int) = statement.words.isMatchCondition(i)
    def ends(i: Int): Boolean = name(i) match {
      case "COMMA" => !rowsFollowCommas
      case "ON" | "USING" | "LEFT" | "RIGHT" => true
      case _ if isOfRightSide(statement, i, from)(isCondition) => false
      case other => AfterJoin(other) && (i > from || other != "LATERAL")
    }
    statement.wordsFrom(from).find(i => i > from && isCondition(i) || ends(i)).filter(i => i > from && isCondition(i))
  }
}
