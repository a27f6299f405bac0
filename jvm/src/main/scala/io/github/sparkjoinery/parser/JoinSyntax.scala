package io.github.sparkjoinery.parser

import org.antlr.v4.runtime.Token

/**
 * A statement whose joins have been rewritten to joins of Spark's grammar. Each token keeps its position in the user's
 * text.
 */
private[parser] case class RewrittenStatement(statement: StatementTokens, joins: Seq[FoundJoin])

/** The syntax of a kind of join, found in the tokens of a statement. */
private[parser] trait JoinSyntax {

  /** Returns the join that begins at a position, if one does. */
  protected def read(statement: StatementTokens, i: Int): Option[FoundJoin]

  def rewrite(statement: StatementTokens): RewrittenStatement = {
    val places = if (statement.words.isFreeText) Range(0, 0) else statement.indices
    val (joins, changed) = places.foldLeft((Vector.empty[FoundJoin], Map.empty[Int, Option[Token]])) {
      // Tokens of a found join's own clause are parsed separately.
      case ((joins, changed), i) if !changed.contains(i) =>
        read(statement, i).fold((joins, changed))(join => (joins :+ join, changed ++ join.changed))
      case (found, _) => found
    }
    val tokens = statement.indices.flatMap(i => changed.getOrElse(i, Some(statement.tokens(i))))
    RewrittenStatement(new StatementTokens(tokens), joins)
  }
}

private[parser] object JoinSyntax {

  // Words that may follow a join without ON or USING. LEFT and RIGHT may also be functions, before a parenthesis.
  val AfterJoin: Set[String] =
    Set("JOIN", "INNER", "CROSS", "FULL", "SEMI", "ANTI", "NATURAL", "LATERAL", "WHERE", "GROUP", "HAVING") ++
      Set("UNION", "INTERSECT", "EXCEPT", "SETMINUS", "LIMIT", "OFFSET", "WINDOW", "CLUSTER", "DISTRIBUTE", "SORT") ++
      Set("PIVOT", "UNPIVOT", "QUALIFY", "SEMICOLON", "OPERATOR_PIPE", "EOF")

  // Spark takes these words of AfterJoin as the alias of a table, too.
  private val AliasToo =
    Set("WHERE", "GROUP", "HAVING", "LIMIT", "OFFSET", "WINDOW", "CLUSTER", "DISTRIBUTE", "SORT") ++
      Set("PIVOT", "UNPIVOT", "QUALIFY")

  /**
   * True if a word of [[AfterJoin]] is the name or the alias of a right side.
   *
   * @param from
   *   start of the right side
   * @param endsAt
   *   true if the clause after a right side begins at a position
   */
  def isOfRightSide(statement: StatementTokens, i: Int, from: Int)(endsAt: Int => Boolean): Boolean =
    AliasToo(statement.name(i)) && (i == from || statement.name(i - 1) == "AS" || endsAt(i + 1))
}
