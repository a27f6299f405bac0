package io.github.sparkjoinery.window

import io.github.sparkjoinery.Answers

/** Hot keys cut where rows have no bound, sums overflow or values are equal and not the same. */
class SkewedWindowEdgesSuite extends SkewedWindowChecks {

  /** The answer to a query over the rows of another, the view `e`, is Spark's; its window is split, or is not. */
  private def checkEdge(rows: String, query: String, split: Boolean = true): Unit = {
    sql(rows).createOrReplaceTempView("e")
    val answer = sql(query)
    val found = Answers.rows(answer)
    assert(found == onStockWindows(Answers.rows(sql(query))), query)
    assert(hotKeys(answer).nonEmpty == split, plan(answer))
  }

  test("ROWS beside RANGE frames where a key is cut at a row without a bound") {
    def ranges(rows: String, over: String) =
      s"""SELECT t IS NULL, min(n), max(n), count(*), sum(s) FROM (SELECT /*+ SKEW_WINDOW(6) */ t,
         |  count(*) OVER (PARTITION BY k ORDER BY t $rows) AS n, sum(id) OVER (PARTITION BY k ORDER BY t $over) AS s
         |FROM e) GROUP BY 1""".stripMargin
    withHint {
      for ((order, first) <- Seq("NULLS LAST" -> "id < 40", "DESC NULLS FIRST" -> "id >= 20"))
        checkEdge(
          s"SELECT id, if(id < 0, 'b', 'a') AS k, if($first, int(id), NULL) AS t FROM range(0, 60, 1, 4)",
          ranges(
            s"$order ROWS BETWEEN 50 PRECEDING AND 50 FOLLOWING",
            s"$order RANGE BETWEEN 1 PRECEDING AND CURRENT ROW")
        )
      withConf("spark.sql.ansi.enabled" -> "true")(
        checkEdge(
          "SELECT id, if(id < 0, 'b', 'a') AS k, CAST(2 * id AS TINYINT) AS t FROM range(0, 60, 1, 4)",
          ranges("ROWS 50 PRECEDING", "RANGE BETWEEN CURRENT ROW AND 100Y FOLLOWING")
        ))
    }
  }

  test("a sum that overflows in the halo only does not fail") {
    withHint(withConf("spark.sql.ansi.enabled" -> "true") {
      // Id 14 is before the cut's halo, which ids 15 and 16 are in: without it, their sum is too large.
      for ((value, split) <- Seq("w" -> true, "CAST(w AS DECIMAL(38, 0)) * 10000000000000000000BD" -> false))
        checkEdge(
          s"""SELECT id, if(id < 0, 1, 0) AS k,
             |  int(CASE id WHEN 14 THEN 148 WHEN 15 THEN 149 WHEN 16 THEN 150 ELSE 10 * id END) AS t,
             |  $value AS v
             |FROM (SELECT id, CASE WHEN id = 14 THEN -9000000000000000000L
             |    WHEN id IN (15, 16) THEN 5000000000000000000L ELSE 0L END AS w FROM range(0, 40, 1, 4))""".stripMargin,
          """SELECT /*+ SKEW_WINDOW(2) */ t, sum(v) OVER (PARTITION BY k ORDER BY t RANGE BETWEEN 3 PRECEDING AND CURRENT ROW),
            |  count(*) OVER (PARTITION BY k ORDER BY t ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) FROM e""".stripMargin,
          split
        )
    })
  }

  test("a sum that overflows fails as Spark's does") {
    withHint(withConf("spark.sql.ansi.enabled" -> "true") {
      sql(
        "SELECT int(id) AS t, if(id < 0, 1, 0) AS k, if(id > 30, 9000000000000000000L, 0L) AS v FROM range(0, 40, 1, 4)")
        .createOrReplaceTempView("e")
      val query = sql("SELECT /*+ SKEW_WINDOW(2) */ t, sum(v) OVER (PARTITION BY k ORDER BY t ROWS 3 PRECEDING) FROM e")
      assert(intercept[Exception](query.collect()).getMessage.contains("ARITHMETIC_OVERFLOW"))
    })
  }

  test("rows that tie are in the same order in all parts") {
    withHint {
      sql("SELECT int(id / 7) AS t, if(id < 0, 1, 0) AS k, int(id) AS v FROM range(0, 300, 1, 4)")
        .createOrReplaceTempView("e")
      val query = sql("""SELECT /*+ SKEW_WINDOW(8) */ v, lag(v) OVER w, lead(v) OVER w, sum(v) OVER f FROM e
                        |WINDOW w AS (PARTITION BY k ORDER BY t), f AS (PARTITION BY k ORDER BY t ROWS 1 PRECEDING)
                        |""".stripMargin)
      val rows = query.collect()
      assert(hotKeys(query).nonEmpty)
      for (place <- Seq(1, 2)) // each row precedes one other, and follows one other
        assert(rows.flatMap(row => Option(row.get(place))).distinct.length == 299)
      rows.filterNot(_.isNullAt(1)).foreach(row => assert(row.getLong(3) == row.getInt(0) + row.getInt(1)))
    }
  }

  test("an upper bound of RANGE that wraps around holds all rows, and so nothing is cut") {
    withHint(for ((least, split) <- Seq("-2147483648" -> false, "-2147483000" -> true))
      checkEdge(
        s"SELECT id, if(id < 0, 1, 0) AS k, int($least + id * 3) AS t, id AS v FROM range(0, 60, 1, 4)",
        "SELECT /*+ SKEW_WINDOW(4) */ t, sum(v) OVER (PARTITION BY k ORDER BY t RANGE BETWEEN 9 PRECEDING AND 3 PRECEDING) FROM e",
        split
      ))
  }
}
