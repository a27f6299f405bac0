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
    assert((windows(answer).map(_.metrics("splitParts").value).sum >= 2) == split, plan(answer))
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
      for (value <- Seq("w", "CAST(w AS DECIMAL(38, 0)) * 10000000000000000000BD"))
        checkEdge(
          s"""SELECT id, if(id < 0, 1, 0) AS k,
             |  int(CASE id WHEN 14 THEN 148 WHEN 15 THEN 149 WHEN 16 THEN 150 ELSE 10 * id END) AS t,
             |  $value AS v
             |FROM (SELECT id, CASE WHEN id = 14 THEN -9000000000000000000L
             |    WHEN id IN (15, 16) THEN 5000000000000000000L ELSE 0L END AS w FROM range(0, 40, 1, 4))""".stripMargin,
          """SELECT /*+ SKEW_WINDOW(2) */ t, sum(v) OVER (PARTITION BY k ORDER BY t RANGE BETWEEN 3 PRECEDING AND CURRENT ROW),
            |  count(*) OVER (PARTITION BY k ORDER BY t ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) FROM e""".stripMargin
        )
    })
  }

  test("a whole partition's sum of bigints, which may overflow on the way, is not split in ANSI mode") {
    val large = "5000000000000000000L"
    def whole(parts: Int) = s"""SELECT max(s), count(*) FROM (SELECT /*+ SKEW_WINDOW($parts) */ t,
         |  sum(v) OVER (PARTITION BY k ORDER BY t $Whole) AS s FROM e)""".stripMargin
    def rows(count: Int, values: String) =
      s"""SELECT int(id) AS t, if(id < 0, 1, 0) AS k, CASE id $values ELSE 0L END AS v FROM range(0, $count, 1, 4)"""
    withHint {
      val canceled = rows(30, s"WHEN 0 THEN $large WHEN 1 THEN -$large WHEN 29 THEN $large")
      withConf("spark.sql.ansi.enabled" -> "true") {
        checkEdge(canceled, whole(3), split = false)
        checkDecision(whole(3).replaceFirst("(?s).*FROM [(]", "").stripSuffix(")"), "a whole partition's sum overflows")
        sql(rows(40, s"WHEN 0 THEN $large WHEN 10 THEN $large WHEN 20 THEN -$large WHEN 30 THEN -$large"))
          .createOrReplaceTempView("e")
        assert(intercept[Exception](sql(whole(4)).collect()).getMessage.contains("ARITHMETIC_OVERFLOW"))
        // Too many rows would have to come together.
        checkEdge(canceled.replace(large, "2000000000").replace("0L", "0"), whole(3))
      }
      checkEdge(canceled, whole(3)) // it wraps, in any order
    }
  }

  test("dense_rank of a bigint that is NULL, and of one that sorts as NULL does") {
    withHint(for ((last, order) <- Seq(
        "9223372036854775807L" -> "DESC NULLS FIRST",
        "-9223372036854775808L" -> "ASC NULLS FIRST"))
      checkEdge(
        s"""SELECT CASE id WHEN 0 THEN NULL WHEN 1 THEN $last ELSE 10000 - id END AS t, if(id < 0, 1, 0) AS k
           |FROM range(0, 1000, 1, 4)""".stripMargin,
        s"SELECT /*+ SKEW_WINDOW(2) */ t, dense_rank() OVER (PARTITION BY k ORDER BY t $order) FROM e"
      ))
  }

  test("minima and maxima of growing frames over strings that are equal and not the same are not split") {
    def extreme(of: String) =
      s"CAST($of(s) OVER (PARTITION BY k ORDER BY t $Growing) AS STRING COLLATE UTF8_BINARY)"
    withHint(checkEdge(
      """SELECT int(-id) AS t, if(id < 0, 1, 0) AS k, if(id % 2 = 0, 'a', 'A') COLLATE UTF8_LCASE AS s
        |FROM range(0, 1000, 1, 4)""".stripMargin, // latest first
      s"SELECT a, b, count(*) FROM (SELECT /*+ SKEW_WINDOW(2) */ t, ${extreme("min")} AS a, ${extreme("max")} AS b FROM e) GROUP BY 1, 2",
      split = false
    ))
  }
}
