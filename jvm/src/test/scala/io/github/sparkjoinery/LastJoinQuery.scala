package io.github.sparkjoinery

/**
 * A LAST JOIN of the views `l` and `r`, both with columns id, k, o, v, and stock SQL that gives every row it may give.
 *
 * @param terms
 *   ORDER BY, last row wins
 * @param on
 *   the condition
 */
case class LastJoinQuery(terms: Seq[OrderTerm], on: String) {

  /** @param hint BROADCAST, SHUFFLE_HASH or MERGE, for the right side */
  def sql(hint: String): String =
    s"SELECT /*+ $hint(r) */ l.id, r.id AS rid, r.k, r.o, r.v FROM l l LAST JOIN r$orderBy ON $on"

  /** The rows in the last place; they are one for each left row if `terms` leave no ties. */
  def candidates: String =
    s"""SELECT id, rid, k, o, v FROM (
       |  SELECT l.id, r.id AS rid, r.k, r.o, r.v, rank() OVER (PARTITION BY l.id ORDER BY $fromTheLast) AS place
       |  FROM l LEFT JOIN r ON $on) WHERE place = 1""".stripMargin

  private def orderBy: String = if (terms.isEmpty) "" else terms.map(_.sql).mkString(" ORDER BY ", ", ", "")
  private def fromTheLast: String = if (terms.isEmpty) "1" else terms.map(_.reversed).mkString(", ")
}

/** @param suffix `ASC`, `DESC` or nothing, then `NULLS FIRST`, `NULLS LAST` or nothing */
case class OrderTerm(column: String, suffix: String = "") {
  def sql: String = s"$column $suffix".trim

  /** The same order backwards; an order that does not say where NULLs go has them first if ascending. */
  def reversed: String = {
    val descending = suffix.contains("DESC")
    val nullsFirst = if (suffix.contains("NULLS")) suffix.contains("FIRST") else !descending
    s"$column ${if (descending) "ASC" else "DESC"} NULLS ${if (nullsFirst) "LAST" else "FIRST"}"
  }
}
