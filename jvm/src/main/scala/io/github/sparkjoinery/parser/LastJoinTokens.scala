package io.github.sparkjoinery.parser

/**
 * Rewrites `LAST JOIN r ORDER BY terms ON ...` to `LEFT JOIN r ON ...`. The clause of the found join is ORDER BY. The
 * join starts with NATURAL, if that precedes LAST.
 */
private[parser] object LastJoinTokens extends JoinSyntax {
  import JoinSyntax._

  // After these tokens, a word of AfterJoin is a name (`ORDER BY offset`).
  private val BeforeName = Set("BY", "COMMA", "AS")

  override protected def read(statement: StatementTokens, last: Int): Option[FoundJoin] =
    if (statement.words.isLastJoin(last)) Some(found(statement, last)) else None

  private def found(statement: StatementTokens, last: Int): FoundJoin = {
    if (statement.name(last + 2) == "LATERAL") statement.fail(last + 2, "LAST JOIN does not take LATERAL")
    val natural = statement.name(last - 1) == "NATURAL"
    val (orderBy, criteria) = clauses(statement, last + 2)
    if (criteria.isEmpty && !natural) {
      statement.fail(
        last,
        "LAST JOIN needs ON or USING after its right side and ORDER BY (`ON true` takes every row). If `last` " +
          "is meant as the alias of the table before it, write AS last, or set spark.joinery.lastJoin.enabled to false"
      )
    }
    if (criteria.nonEmpty && natural) statement.fail(criteria.get, "NATURAL LAST JOIN takes neither ON nor USING")
    val order = for (from <- orderBy; to <- criteria) yield from until to
    FoundJoin(
      statement.tokens(if (natural) last - 1 else last).getStartIndex,
      order.map(places => statement.clause(places.start, places.end)),
      order.toSeq.flatten.map(_ -> None).toMap + (last -> Some(statement.retyped(last, "LEFT")))
    )
  }

  /** Returns the positions of ORDER BY and of ON or USING, for a join whose right side starts at `from`. */
  private def clauses(statement: StatementTokens, from: Int): (Option[Int], Option[Int]) = {
    import statement.name
    val rowsFollowCommas = name(from) == "VALUES"
    var orderBy: Option[Int] = None
    def isClause(i: Int) = name(i) == "ON" || name(i) == "USING" || name(i) == "ORDER" && name(i + 1) == "BY"
    def isName(i: Int) = BeforeName(name(i - 1)) || orderBy.nonEmpty && JoinWords.BEFORE_OPERAND.contains(name(i - 1))
    def ends(i: Int): Boolean = name(i) match {
      case "ON" | "USING" => true
      case "LEFT" | "RIGHT" if name(i + 1) != "LEFT_PAREN" => true
      case "COMMA" if orderBy.isEmpty && !rowsFollowCommas => true
      case _ if orderBy.isEmpty && isOfRightSide(statement, i, from)(isClause) => false
      case other => AfterJoin(other) && !isName(i) || statement.words.isLastJoin(i)
    }
    val end = statement.wordsFrom(from).find { i =>
      val isOrder = name(i) == "ORDER" && name(i + 1) == "BY"
      if (isOrder) orderBy = orderBy.orElse(Some(i))
      !isOrder && ends(i)
    }
    (orderBy, end.filter(i => name(i) == "ON" || name(i) == "USING"))
  }
}
