package io.github.sparkjoinery.rangejoin

import io.github.sparkjoinery.rangejoin.exec.BroadcastRangeJoinExec
import io.github.sparkjoinery.{Answers, OnDefaultLine, Pairwise}

/** Keys and bounds whose values are no numbers that can be compared as they are: collated strings, NULLs, errors. */
class RangeJoinTermsSuite extends EventsAndSpans {

  private val BothForms = Seq(Generated, Interpreted)

  test("a bound that fails beside a NULL fails the query", OnDefaultLine) {
    val points = "VALUES (1, 5), (2, -3) p(id, x)"
    val ranges = "VALUES (1, 1, CAST(NULL AS INT), 2147483647), (2, 0, 10, 1) r(id, lo, hi, width)"
    val days = "VALUES (DATE'2024-05-05'), (DATE'2023-01-01') q(day)"
    val terms =
      "VALUES (1, DATE'2024-01-01', CAST(NULL AS DATE), '31.12.2024'), (2, DATE'2024-01-01', NULL, '2024-12-31') d(id, a, b, text)"
    val queries = Seq(
      s"$points {join} $ranges ON {first} AND p.x >= r.lo AND p.x <= coalesce(r.hi, r.lo + r.width)",
      s"$ranges {join} $points ON {first} AND p.x <= coalesce(r.hi, r.lo + r.width) AND p.x >= r.lo",
      s"$days {join} $terms ON q.day BETWEEN d.a AND coalesce(d.b, CAST(d.text AS DATE))",
      s"$terms {join} $days ON q.day BETWEEN d.a AND coalesce(d.b, CAST(d.text AS DATE))"
    )
    val codes = Map("generated" -> Generated, "interpreted" -> Interpreted)
    for (chosen <- Pairwise.cases(
        "query" -> queries,
        "join" -> Seq("JOIN", "LEFT JOIN"),
        "first" -> Seq("true", "p.id <> r.id"),
        "code" -> codes.keys.toSeq.sorted,
        "form" -> Seq(Broadcast, Shuffled),
        "spark.sql.ansi.enabled" -> Seq("true", "false")
      )) withConf(codes(chosen("code")) ++ Seq(
      "spark.sql.ansi.enabled" -> chosen("spark.sql.ansi.enabled"),
      "spark.joinery.rangeJoin.maxBroadcast" -> (if (chosen("form") == Shuffled) "1" else "1GB")): _*) {
      val from = chosen("query").replace("{join}", chosen("join")).replace("{first}", chosen("first"))
      checkRangeJoin(s"SELECT * FROM $from", chosen("form"))
    }
  }

  test("a bound that is NULL without an error makes no row a candidate") {
    for (ansi <- Seq("true", "false"); conf <- BothForms) withConf(conf :+ ("spark.sql.ansi.enabled" -> ansi): _*) {
      val end = if (ansi == "true") "try_cast(s.text AS INT)" else "CAST(s.text AS INT)"
      for (side <- Seq("e", "s")) {
        val spans = "(SELECT id, lo, if(id % 10 = 0, '7', '') AS text FROM spans) s"
        val (query, _) = checkedRangeJoin(
          s"SELECT /*+ BROADCAST($side) */ e.id, s.id AS sid FROM events e JOIN $spans ON e.x BETWEEN s.lo AND $end")
        val candidates =
          collectFirst(plan(query)) { case join: BroadcastRangeJoinExec => join }.get.metrics("candidates")
        assert(candidates.value < 500, s"$ansi $conf $side")
      }
    }
  }

  test("what two bounds have in common fails only with them", OnDefaultLine) {
    withConf("spark.sql.ansi.enabled" -> "true") {
      val events = "(SELECT id, if(id = 3, 2147483647, x) AS x FROM events) e"
      for (conf <- BothForms; side <- Seq("e", "s")) withConf(conf: _*) {
        val rows = checkRangeJoin(
          s"SELECT /*+ BROADCAST($side) */ e.id, s.id AS sid FROM $events JOIN spans s " +
            "ON (e.id <> 3 OR s.id < 0) AND s.lo BETWEEN e.x + 1 AND (e.x + 1) * 2")
        assert(rows > 0)
      }
    }
  }

  for (collation <- Seq("UTF8_LCASE", "UTF8_BINARY_RTRIM", "UNICODE_CI"))
    test(s"an equality beside a range in $collation, by CollationKey") {
      views(
        "p" -> s"SELECT k COLLATE $collation AS k, x FROM VALUES ('A', 5), ('b', 6), ('c ', 7), (NULL, 8) AS t(k, x)",
        "r" -> (s"SELECT k COLLATE $collation AS k, lo, hi FROM VALUES ('a', 1, 9), ('B', 1, 9), ('c', 1, 9), " +
          "(NULL, 1, 9), ('d', 1, 9) AS t(k, lo, hi)")
      )
      val range = "p.x BETWEEN r.lo AND r.hi"
      for ((broadcast, operator, conf) <- Seq(("10MB", Broadcast, Interpreted), ("-1", Shuffled, Generated)))
        withConf(conf :+ ("spark.sql.autoBroadcastJoinThreshold" -> broadcast): _*) {
          for (text <- Seq(
              s"SELECT p.k, r.k, p.x FROM p, r WHERE p.k = r.k AND $range",
              s"SELECT p.k, r.k FROM p FULL JOIN r ON p.k = r.k AND $range",
              s"SELECT p.k, r.k FROM p LEFT JOIN r ON concat(p.k, '') = concat(r.k, '') AND $range",
              s"SELECT * FROM p WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.k = p.k AND $range)",
              s"SELECT /*+ RANGE_JOIN(r) */ p.k, r.k FROM p, r WHERE p.k <=> r.k AND $range"
            )) assert(checkRangeJoin(text, operator) > 0)
        }
      for ((what, ofType) <- Seq("array(%s.k)" -> "ARRAY<", "struct(%s.k AS s, 1 AS n)" -> "STRUCT<"))
        for (hint <- Seq("", "/*+ RANGE_JOIN(r) */")) {
          val text =
            s"SELECT $hint p.x, r.lo FROM p, r WHERE ${what.format("p")} = ${what.format("r")} AND $range"
          checkLeftToSpark(text, s"equality of $ofType")
          assert(Answers.rows(sql(text)) == asOracle(Answers.rows(sql(text))))
        }
    }
}
