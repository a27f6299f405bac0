package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.functions._
import org.apache.spark.sql.{AnalysisException, DataFrame}

import io.github.sparkjoinery.{Answers, LastJoinChecks}

/** Every error names the problem and points at the user's text. */
class LastJoinErrorsSuite extends LastJoinChecks {

  override protected def beforeAll(): Unit = views(
    "l" -> "SELECT * FROM VALUES (1, 'a', 10), (2, 'b', 20) AS t(id, k, ts)",
    "r" -> "SELECT *, map('x', ts) AS m FROM VALUES ('a', 1), ('b', 3) AS t(k, ts)")

  private def error(statement: String, condition: String, at: String, message: String = ""): Unit =
    test(s"$condition: $statement")(checkError(statement, condition, at, message))

  // syntax
  private val NeedsOn = "LAST JOIN needs ON or USING"
  error("SELECT * FROM l l LAST JOIN r ORDER BY r.ts", "PARSE_SYNTAX_ERROR", "LAST", NeedsOn)
  error("SELECT * FROM l LAST JOIN r", "PARSE_SYNTAX_ERROR", "LAST", "write AS last")
  error("SELECT *\nFROM l l LAST JOIN r ORDER BY r.ts\n  WHERE l.k = r.k", "PARSE_SYNTAX_ERROR", "LAST", NeedsOn)
  error("SELECT * FROM l l LAST JOIN r, l b", "PARSE_SYNTAX_ERROR", "LAST", NeedsOn)
  error(
    "SELECT * FROM (SELECT * FROM l l LAST JOIN r ORDER BY r.ts) x JOIN l ON true",
    "PARSE_SYNTAX_ERROR",
    "LAST",
    NeedsOn)
  error("SELECT * FROM l l LAST JOIN r LEFT JOIN r s ON l.k = s.k", "PARSE_SYNTAX_ERROR", "LAST", NeedsOn)
  error("FROM l |> AS l |> LAST JOIN r ORDER BY r.ts |> LIMIT 1", "PARSE_SYNTAX_ERROR", "LAST", NeedsOn)
  error("SELECT * FROM l l LAST JOIN r ORDER BY ON l.k = r.k", "PARSE_SYNTAX_ERROR", "ORDER", "not a list of terms")
  error(
    "SELECT * FROM l l LAST JOIN r ORDER BY r.ts, ON l.k = r.k",
    "PARSE_SYNTAX_ERROR",
    "ORDER",
    "not a list of terms")
  error("SELECT * FROM l l LAST JOIN r ORDER BY r.ts DSC ON l.k = r.k", "PARSE_SYNTAX_ERROR", "DSC")
  error("SELECT * FROM l l LAST JOIN r ORDER BY r.ts LIMIT 1 ON l.k = r.k", "PARSE_SYNTAX_ERROR", "LAST")
  error("SELECT * FROM l l LAST JOIN r SORT BY r.ts ON l.k = r.k", "PARSE_SYNTAX_ERROR", "LAST")
  error("SELECT * FROM l l LAST JOIN r ORDER BY (r.ts ON l.k = r.k", "PARSE_SYNTAX_ERROR", "LAST")
  error("SELECT * FROM l l LEFT LAST JOIN r ON l.k = r.k", "PARSE_SYNTAX_ERROR", "LAST")
  error(
    "SELECT * FROM l l NATURAL LAST JOIN r ON l.k = r.k",
    "PARSE_SYNTAX_ERROR",
    "ON",
    "NATURAL LAST JOIN takes neither")
  error(
    "SELECT * FROM l l LAST JOIN LATERAL (SELECT * FROM r WHERE r.k = l.k) r ON true",
    "PARSE_SYNTAX_ERROR",
    "LATERAL",
    "LAST JOIN does not take LATERAL")
  error("SELECT '\uD83D\uDE00' FROM l l LAST JOIN r ORDER BY r.ts DSC ON l.k = r.k", "PARSE_SYNTAX_ERROR", "DSC")

  error("SELECT 'LAST JOIN' FROM l l\n  LAST\u00A0JOIN r ORDER BY r.ts", "PARSE_SYNTAX_ERROR", "LAST", NeedsOn)
  error("SELECT * FROM l l LAST JOIN r ORDER BY r.ts ON l.k = r.k; SELECT", "PARSE_SYNTAX_ERROR", "SELECT")

  // Syntax errors of any join read as with a LEFT JOIN. LAST and LEFT have the same length, so places agree.
  for (from <- Seq(
      "l l LAST JOIN r ON",
      "l l LAST JOIN r ON l.k = r.k AND",
      "l l LAST JOIN r USING k",
      "l l LAST JOIN r USING ()",
      "l l LAST JOIN ON l.k = r.k",
      "l l LAST JOIN r s t ON true",
      "l l LAST JOIN r ON (l.k = r.k WHERE true",
      "l l LAST JOIN r ON true ON true",
      "l l LAST JOIN r ON true HAVING",
      "l l LAST JOIN r\n\tON l.k == == r.k"
    )) {
    test(s"as with LEFT JOIN: $from") {
      def message(text: String) = intercept[ParseException](sql(text)).getMessage
      val statement = s"SELECT '\uD83D\uDE00', * FROM $from"
      assert(message(statement) == message(statement.replace("LAST", "LEFT")).replace("LEFT", "LAST"))
    }
  }

  // what any join refuses
  error("SELECT * FROM l l LAST JOIN r ORDER BY r.nope ON l.k = r.k", "UNRESOLVED_COLUMN", "r.nope")
  error("SELECT * FROM l l LAST JOIN r ORDER BY r.ts ON l.k = r.nope", "UNRESOLVED_COLUMN", "r.nope")
  error("SELECT * FROM l l LAST JOIN r ORDER BY r.ts ON l.k = r.k AND ts > 1", "AMBIGUOUS_REFERENCE", "ts")
  error("SELECT k FROM l l LAST JOIN r ORDER BY r.ts ON l.k = r.k", "AMBIGUOUS_REFERENCE", "k")
  error("SELECT * FROM l l LAST JOIN (SELECT 1 AS x, 2 AS x) s ORDER BY x ON true", "AMBIGUOUS_REFERENCE", "x")
  error(
    "SELECT * FROM l l LAST JOIN no_such_table r ORDER BY r.ts ON l.k = r.k",
    "TABLE_OR_VIEW_NOT_FOUND",
    "no_such_table")
  error(
    "SELECT * FROM l l LAST JOIN r ORDER BY r.ts ON l.id + r.ts",
    "JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE",
    "LAST JOIN r ORDER BY r.ts ON l.id + r.ts")
  error(
    "SELECT * FROM l l LAST JOIN r ORDER BY no_such_function(r.ts) ON l.k = r.k",
    "UNRESOLVED_ROUTINE",
    "no_such_function(r.ts)")
  error(
    "SELECT * FROM l l LAST JOIN r ORDER BY r.ts USING (nope)",
    "UNRESOLVED_USING_COLUMN_FOR_JOIN",
    "",
    "USING column `nope` cannot be resolved on the left side"
  ) // Spark gives no place
  error(
    "SELECT * FROM l l LAST JOIN r ORDER BY r.ts ON max(r.ts) > 1",
    "UNSUPPORTED_EXPR_FOR_OPERATOR",
    "LAST JOIN r ORDER BY r.ts ON max(r.ts) > 1")

  // ORDER BY
  error("SELECT * FROM l l LAST JOIN r ORDER BY l.ts ON l.k = r.k", "UNRESOLVED_COLUMN", "l.ts")
  error("SELECT * FROM l l LAST JOIN r ORDER BY r.m ON l.k = r.k", "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE", "r.m")
  error(
    "SELECT * FROM l l LAST JOIN r ORDER BY max(r.ts) ON l.k = r.k",
    "JOINERY_LAST_JOIN.ORDER_BY_AGGREGATE",
    "max(r.ts)")
  error(
    "SELECT * FROM l l LAST JOIN r ORDER BY r.k, row_number() OVER (ORDER BY r.ts) ON l.k = r.k",
    "JOINERY_LAST_JOIN.ORDER_BY_WINDOW",
    "row_number() OVER (ORDER BY r.ts)"
  )
  error(
    "SELECT * FROM l l LAST JOIN r ORDER BY window(timestamp_seconds(r.ts), '1 hour').start ON l.k = r.k",
    "JOINERY_LAST_JOIN.TIME_WINDOW",
    "window(timestamp_seconds(r.ts), '1 hour')",
    "use date_trunc"
  )
  error(
    "WITH x AS (SELECT 1) SELECT (SELECT count(*) FROM l l LAST JOIN r ORDER BY " +
      "Session_Window(timestamp_seconds(r.ts), '1 hour') ON l.k = r.k)",
    "JOINERY_LAST_JOIN.TIME_WINDOW",
    "Session_Window(timestamp_seconds(r.ts), '1 hour')"
  )
  error(
    "SELECT * FROM l l LAST JOIN r ORDER BY r.k, window_time(r.w) ON l.k = r.k",
    "JOINERY_LAST_JOIN.TIME_WINDOW",
    "window_time(r.w)",
    "a column of the result. Write `w.end - INTERVAL 1 MICROSECOND`"
  )
  error(
    "SELECT * FROM l l LAST JOIN r ORDER BY rand() ON l.k = r.k",
    "JOINERY_LAST_JOIN.ORDER_BY_NONDETERMINISTIC",
    "rand()")
  error(
    "SELECT * FROM l l LAST JOIN r ORDER BY r.ts + uuid() DESC ON l.k = r.k",
    "JOINERY_LAST_JOIN.ORDER_BY_NONDETERMINISTIC",
    "r.ts + uuid()")
  error(
    "SELECT * FROM l l LAST JOIN r ORDER BY explode(array(r.ts)) ON l.k = r.k",
    "UNSUPPORTED_GENERATOR.OUTSIDE_SELECT",
    "",
    "explode(array(ts"
  ) // Spark gives no place
  error(
    "SELECT * FROM l l LAST JOIN r ORDER BY (SELECT max(ts) FROM l) ON l.k = r.k",
    "JOINERY_LAST_JOIN.ORDER_BY_SUBQUERY",
    "(SELECT max(ts) FROM l)")
  error(
    "SELECT (SELECT max(r.ts) FROM l l LAST JOIN r ORDER BY o.id + r.ts ON l.k = r.k) FROM l o",
    "JOINERY_LAST_JOIN.ORDER_BY_OUTER_REFERENCE",
    "o.id")

  // ON
  error(
    "SELECT * FROM l l LAST JOIN r ORDER BY r.ts ON rand() < 0.5",
    "JOINERY_LAST_JOIN.NONDETERMINISTIC_ON",
    "rand() < 0.5")
  error(
    "SELECT * FROM l l LAST JOIN r ORDER BY r.ts ON EXISTS (SELECT 1 FROM l x WHERE x.k = r.k AND x.id = l.id)",
    "JOINERY_LAST_JOIN.SUBQUERY_ON",
    "LAST JOIN r ORDER BY r.ts ON EXISTS (SELECT 1 FROM l x WHERE x.k = r.k AND x.id = l.id)"
  )
  error(
    "SELECT * FROM l l LAST JOIN r ORDER BY r.ts ON l.k = r.k AND r.ts IN (SELECT id FROM l x WHERE x.k = l.k)",
    "JOINERY_LAST_JOIN.SUBQUERY_ON",
    "IN (SELECT id FROM l x WHERE x.k = l.k)"
  )

  test("an uncorrelated scalar subquery in ON is taken by all operators") {
    for ((hint, _) <- LastJoinForms) {
      val query =
        s"SELECT /*+ $hint(r) */ l.id, r.ts FROM l l LAST JOIN r ORDER BY r.ts ON l.k = r.k AND r.ts < (SELECT max(id) FROM l)"
      assert(Answers.rows(sql(query)) == Seq("(1, 1)", "(2, NULL)"))
    }
  }

  test("the words of an error show the user's statement, not what Joinery made of it") {
    val statement = "SELECT *\nFROM l l\n  LAST JOIN r ORDER BY rand() ON l.k = r.k"
    val error = intercept[AnalysisException](sql(statement))
    assert(
      error.getMessage.contains("(line 3, position 24) ==\n  LAST JOIN r ORDER BY rand() ON l.k = r.k\n"),
      error.getMessage)
    assert(error.line.contains(3) && error.startPosition.contains(23))
    assert(!error.getMessage.contains("LEFT JOIN"))
  }

  test("a streaming right side") {
    val stream = spark.readStream.format("rate").load()
    stream.createOrReplaceTempView("ticks")
    checkError(
      "SELECT * FROM l l LAST JOIN ticks s ORDER BY s.timestamp ON l.id = s.value",
      "JOINERY_LAST_JOIN.STREAMING",
      "LAST JOIN ticks s ORDER BY s.timestamp ON l.id = s.value"
    )
    checkError(
      "SELECT * FROM ticks t LAST JOIN ticks s ORDER BY s.timestamp ON t.value = s.value",
      "JOINERY_LAST_JOIN.STREAMING",
      "LAST JOIN ticks s ORDER BY s.timestamp ON t.value = s.value"
    )
  }

  // the marker function of the DataFrame form
  private def l: DataFrame = spark.table("l")
  private def r: DataFrame = spark.table("r")
  private val marker = call_function("joinery_last_join_order", col("ts"))

  private def misplaced(name: String, condition: String)(query: => DataFrame): Unit = test(s"marker: $name") {
    val error = intercept[AnalysisException](query.collect())
    assert(error.getMessage.startsWith(s"[$condition"), error)
  }

  misplaced("in a filter without a join", "JOINERY_LAST_JOIN.MISPLACED_ORDER")(r.filter(marker))
  misplaced("beside another predicate", "JOINERY_LAST_JOIN.MISPLACED_ORDER")(l.join(
    r.filter(marker && col("ts") > 1),
    Seq("k"),
    "left"))
  misplaced("in a selection", "JOINERY_LAST_JOIN.MISPLACED_ORDER")(r.select(marker))
  misplaced("in the join condition", "JOINERY_LAST_JOIN.MISPLACED_ORDER")(
    l.join(r, l("k") === r("k") && call_function("joinery_last_join_order", r("ts")), "left"))
  misplaced("below another filter", "JOINERY_LAST_JOIN.MISPLACED_ORDER")(l.join(
    r.filter(marker).filter("ts > 1"),
    Seq("k"),
    "left"))
  misplaced("on the left side", "JOINERY_LAST_JOIN.MISPLACED_ORDER")(l.filter(marker).join(r, Seq("k"), "left"))
  for (kind <- Seq("inner", "right", "full", "left_semi", "left_anti")) {
    misplaced(s"in a $kind join", "JOINERY_LAST_JOIN.JOIN_TYPE")(l.join(r.filter(marker), Seq("k"), kind))
  }
  misplaced("in a cross join", "JOINERY_LAST_JOIN.JOIN_TYPE")(l.crossJoin(r.filter(marker)))
  misplaced("over a column of the left side", "UNRESOLVED_COLUMN")(
    l.join(r.filter(call_function("joinery_last_join_order", col("id"))), Seq("k"), "left"))
  misplaced("over an aggregate", "JOINERY_LAST_JOIN.ORDER_BY_AGGREGATE")(
    l.join(r.filter(call_function("joinery_last_join_order", max("ts"))), Seq("k"), "left"))
  misplaced("over a random number", "JOINERY_LAST_JOIN.ORDER_BY_NONDETERMINISTIC")(
    l.join(r.filter(call_function("joinery_last_join_order", rand())), Seq("k"), "left"))
  misplaced("over a map", "DATATYPE_MISMATCH")(
    l.join(r.filter(call_function("joinery_last_join_order", col("m"))), Seq("k"), "left"))
}
