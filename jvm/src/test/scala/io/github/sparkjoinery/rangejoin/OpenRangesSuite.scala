package io.github.sparkjoinery.rangejoin

import org.apache.spark.sql.execution.FormattedMode

import io.github.sparkjoinery.rangejoin.exec.BroadcastRangeJoinExec
import io.github.sparkjoinery.{OnDefaultLine, Pairwise}

/** Intervals that have no end, or no start: a condition that holds without its comparison. */
class OpenRangesSuite extends EventsAndSpans {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    views(
      "visits" -> "SELECT id, k, if(id % 50 = 7, NULL, ts) AS ts, int(id % 3) AS kind FROM events",
      "prices" -> ("SELECT id, k, if(id % 9 = 4, NULL, ts) AS valid_from, if(id % 8 = 3, NULL, te) AS valid_to, id % 8 = 3 AS holds, " +
        "if(id % 8 = 3, NULL, string(te)) AS text FROM spans")
    )
  }

  private val Recognised = Seq(
    "v.ts >= p.valid_from AND (v.ts < p.valid_to OR p.valid_to IS NULL)",
    "(p.valid_to IS NULL OR p.valid_to >= v.ts) AND v.ts > p.valid_from",
    "(p.valid_from IS NULL OR v.ts >= p.valid_from) AND (v.ts < p.valid_to OR p.valid_to IS NULL)",
    "v.ts >= p.valid_from AND NOT (v.ts >= p.valid_to AND p.valid_to IS NOT NULL)",
    "date(v.ts) >= p.valid_from - INTERVAL 1 HOUR AND (date(v.ts) <= p.valid_to + INTERVAL 1 HOUR OR p.valid_to IS NULL)",
    "v.ts >= p.valid_from AND (p.text IS NULL OR v.ts < CAST(p.text AS TIMESTAMP))",
    "(v.ts >= p.valid_from OR v.kind = 2) AND (v.ts < p.valid_to OR p.valid_to IS NULL OR v.kind = 2)",
    "(p.valid_from IS NULL OR v.kind = 1 OR v.ts >= p.valid_from) AND (v.ts < p.valid_to OR p.holds)",
    "v.ts IS NULL OR v.ts BETWEEN p.valid_from AND p.valid_to"
  )

  test("an open end is indexed together with the bounded one, in every spelling and form") {
    val codes = Map("generated" -> Generated, "interpreted" -> Interpreted)
    for (chosen <- Pairwise.cases(
        "condition" -> Recognised,
        "join" -> Seq("JOIN", "FULL JOIN", "LEFT ANTI JOIN"),
        "indexed" -> Seq("v", "p"),
        "key" -> Seq("", "v.k = p.k AND "),
        "form" -> Seq("broadcast", "too large", "shuffled"),
        "code" -> codes.keys.toSeq.sorted
      )) {
      val isShuffled = chosen("form") == "shuffled"
      val hint = if (isShuffled) "" else s"/*+ BROADCAST(${chosen("indexed")}) */"
      // without a key, and with neither side small, the range is cut into parts
      withConf(codes(chosen("code")) ++ Seq(
        "spark.sql.autoBroadcastJoinThreshold" -> (if (isShuffled) "-1" else "10MB"),
        "spark.joinery.rangeJoin.maxBroadcast" -> (if (chosen("form") == "broadcast") "1GB" else "1")
      ): _*) {
        checkRangeJoin(
          s"SELECT $hint * FROM visits v ${chosen("join")} prices p ON ${chosen("key")}(${chosen("condition")})",
          if (isShuffled) Shuffled else Broadcast)
      }
    }
  }

  test("two intervals that may both be open overlap") {
    val overlap =
      "(a.valid_from < b.valid_to OR b.valid_to IS NULL) AND (b.valid_from < a.valid_to OR a.valid_to IS NULL)"
    for ((join, large) <- Seq("JOIN" -> "1", "FULL JOIN" -> "1", "LEFT ANTI JOIN" -> "1", "LEFT JOIN" -> "1GB"))
      withConf("spark.joinery.rangeJoin.maxBroadcast" -> large) {
        val rows =
          checkRangeJoin(
            s"SELECT * FROM prices a $join prices b ON $overlap",
            if (large == "1") Shuffled else Broadcast)
        assert(rows > 0 || join == "LEFT ANTI JOIN", join)
      }
  }

  test("only rows that lie in an open interval are its candidates") {
    for (indexed <- Seq("v", "p"); condition <- Recognised.take(3)) {
      val (query, rows) =
        checkedRangeJoin(
          s"SELECT /*+ BROADCAST($indexed) */ v.id, p.id AS pid FROM visits v JOIN prices p ON $condition")
      val candidates = collectFirst(plan(query)) { case join: BroadcastRangeJoinExec => join }.get.metrics("candidates")
      assert(candidates.value < rows + 500, s"$indexed: $condition") // with rows that touch, or are NULL
    }
  }

  test("a bound or condition that fails in an OR fails the query, as in Spark", OnDefaultLine) {
    val events = "VALUES (1, DATE'2024-05-05'), (2, DATE'2020-01-01') e(id, day)"
    for {
      ansi <- Seq("true", "false")
      form <- Seq("1", "1GB")
      text <- Seq("NULL", "'31.12.2024'")
      condition <- Seq("r.text IS NULL OR e.day < CAST(r.text AS DATE)", "e.day < r.last OR CAST(r.text AS INT) = 7")
      indexed <- Seq("e", "r")
    } withConf("spark.sql.ansi.enabled" -> ansi, "spark.joinery.rangeJoin.maxBroadcast" -> form) {
      val ranges =
        s"VALUES (1, DATE'2024-01-01', DATE'2024-02-01', $text), (2, DATE'2019-01-01', NULL, '2024') r(id, first, last, text)"
      checkRangeJoin(
        s"SELECT /*+ BROADCAST($indexed) */ * FROM $events JOIN $ranges ON e.id <= r.id AND e.day >= r.first AND ($condition)")
    }
  }

  test("EXPLAIN says for which rows a bound is open") {
    val explained =
      sql(s"SELECT * FROM visits v JOIN prices p ON ${Recognised.head}").queryExecution.explainString(FormattedMode)
    for (shown <- Seq("(p.valid_to unless (p.valid_to IS NULL)) >= v.ts", "unless isnull(valid_to"))
      assert(explained.contains(shown), explained)
  }

  test("an OR of anything but one comparison and conditions of one side is no range") {
    for (other <- Seq(
        "v.ts < p.valid_to OR v.kind = p.id",
        "v.ts < p.valid_to OR v.ts > p.valid_from",
        "v.ts < p.valid_to OR p.id > (SELECT avg(id) FROM events)",
        "v.ts - p.valid_to < INTERVAL 1 HOUR OR p.valid_to IS NULL"
      )) checkLeftToSpark(
      s"SELECT /*+ RANGE_JOIN(p) */ v.id FROM visits v JOIN prices p ON $other",
      "compares no term of one side with one of the other"
    )
  }
}
