package io.github.sparkjoinery.parser

import org.antlr.v4.runtime.Token

/**
 * A join in a statement that Spark's grammar does not have.
 *
 * @param startIndex
 *   index of the join's first character
 * @param clause
 *   the tokens of its own clause, closed by an end-of-file token
 * @param changed
 *   the replaced tokens by position in the statement; None removes the token
 */
private[parser] case class FoundJoin(
    startIndex: Int,
    clause: Option[Seq[Token]],
    changed: Map[Int, Option[Token]])
