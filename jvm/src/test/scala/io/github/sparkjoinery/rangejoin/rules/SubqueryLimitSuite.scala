package io.github.sparkjoinery.rangejoin.rules

import io.github.sparkjoinery.Answers
import io.github.sparkjoinery.rangejoin.EventsAndSpans

/** A LIMIT of a correlated subquery takes the first rows that a join returns for each outer row. */
class SubqueryLimitSuite extends EventsAndSpans {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    // The bounds are in no order, so an index has the rows in another order than the table.
    views(
      "shuffled_spans" -> "SELECT id, hash(id) % 90 AS lo, hash(id) % 90 + 30 AS hi, k FROM spans",
      "numbered" -> "SELECT id, x, k FROM events WHERE id % 5 = 0")
  }

  private val InRange = "e.x BETWEEN s.lo AND s.hi"

  for (adaptive <- Seq("true", "false")) test(s"without ORDER BY, the rows are Spark's, adaptive execution $adaptive") {
    val queries = Seq(
      s"SELECT e.id FROM numbered e WHERE e.k * 8 IN (SELECT s.id FROM shuffled_spans s WHERE $InRange LIMIT 2)",
      s"SELECT e.id FROM numbered e WHERE e.k * 8 NOT IN (SELECT s.id FROM shuffled_spans s WHERE $InRange LIMIT 2)",
      s"SELECT e.id, (SELECT s.id FROM shuffled_spans s WHERE $InRange LIMIT 1) AS sid FROM numbered e",
      s"SELECT e.id, s.id AS sid FROM numbered e, LATERAL (SELECT * FROM shuffled_spans s WHERE $InRange LIMIT 2) s",
      s"SELECT e.id, s.id AS sid FROM numbered e, LATERAL (SELECT * FROM shuffled_spans s WHERE e.k = s.k AND $InRange LIMIT 2) s",
      s"SELECT o.id, (SELECT s.id FROM numbered e JOIN shuffled_spans s ON $InRange WHERE e.k = o.k LIMIT 1) AS sid FROM spans o"
    )
    withConf("spark.sql.adaptive.enabled" -> adaptive) {
      for (broadcast <- Seq("1GB", "1"); query <- queries)
        withConf("spark.joinery.rangeJoin.maxBroadcast" -> broadcast) {
          val answer = sql(query)
          assert(Answers.rows(answer) == onStockJoins(Answers.rows(sql(query))), s"$query\n${planned(answer)}")
        }
      checkLeftToSpark(queries.head, "a LIMIT without ORDER BY, of a correlated subquery")
    }
  }
}
