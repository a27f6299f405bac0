package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.parser.ParseException

import io.github.sparkjoinery.AsOfJoinChecks

/** Every error of an ASOF JOIN names the problem and points at the user's text. */
class AsOfJoinErrorsSuite extends AsOfJoinChecks {

  override protected def beforeAll(): Unit = {
    views(
      "l" -> "SELECT * FROM VALUES (1, 'a', 10), (2, 'b', 20) AS t(id, k, ts)",
      "r" -> "SELECT *, map('x', ts) AS m FROM VALUES ('a', 1, DATE'2024-01-01'), ('b', 3, NULL) AS t(k, ts, d)"
    )
    spark.readStream.format("rate").load().createOrReplaceTempView("rate")
  }

  private def error(statement: String, condition: String, at: String, message: String = ""): Unit =
    test(s"$condition: $statement")(checkError(statement, condition, at, message))

  private def matching(comparison: String, kind: String, at: String): Unit =
    error(s"SELECT * FROM l ASOF JOIN r MATCH_CONDITION ($comparison) ON l.k = r.k", s"JOINERY_ASOF_JOIN.$kind", at)

  // syntax
  for (kind <- Seq("RIGHT", "FULL OUTER", "CROSS", "NATURAL", "LEFT SEMI", "NATURAL LEFT")) {
    error(
      s"SELECT * FROM l $kind ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts)",
      "PARSE_SYNTAX_ERROR",
      if (kind == "NATURAL LEFT") "NATURAL" else kind.split(" ").last,
      "an ASOF JOIN is an INNER or a LEFT one"
    )
  }
  error("SELECT * FROM l LEFT ASOF JOIN r ON l.k = r.k", "PARSE_SYNTAX_ERROR", "ASOF", "needs MATCH_CONDITION")
  error(
    "SELECT * FROM l INNER ASOF JOIN r ON l.k = r.k MATCH_CONDITION (l.ts >= r.ts)",
    "PARSE_SYNTAX_ERROR",
    "ASOF",
    "needs MATCH_CONDITION")
  error(
    "SELECT * FROM l ASOF JOIN LATERAL (SELECT * FROM r) r MATCH_CONDITION (l.ts >= r.ts)",
    "PARSE_SYNTAX_ERROR",
    "LATERAL")
  error("SELECT * FROM l ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts ON true", "PARSE_SYNTAX_ERROR", "(", "never closed")
  error("SELECT * FROM l ASOF JOIN r MATCH_CONDITION ()", "PARSE_SYNTAX_ERROR", ")")
  error("SELECT * FROM l ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts, l.k = r.k)", "PARSE_SYNTAX_ERROR", ",")
  error("SELECT *\nFROM l ASOF JOIN r MATCH_CONDITION (l.ts >= )", "PARSE_SYNTAX_ERROR", ")")
  error("SELECT * FROM l ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) x", "PARSE_SYNTAX_ERROR", "x")

  // the comparison
  matching("l.ts = r.ts", "OPERATOR", "l.ts = r.ts")
  matching("l.ts >= r.ts AND l.id > 1", "OPERATOR", "l.ts >= r.ts AND l.id > 1")
  matching("NOT l.ts >= r.ts", "OPERATOR", "NOT l.ts >= r.ts")
  matching("l.ts BETWEEN r.ts AND r.ts", "OPERATOR", "l.ts BETWEEN r.ts AND r.ts")
  matching("l.ts", "OPERATOR", "l.ts")
  matching("true", "OPERATOR", "true")
  matching("l.ts >= l.id", "OPERAND_SIDE", "l.ts >= l.id")
  matching("r.ts >= 3", "OPERAND_SIDE", "r.ts >= 3")
  matching("l.ts + r.ts >= r.ts", "OPERAND_SIDE", "l.ts + r.ts >= r.ts")
  matching("l.ts >= r.d", "OPERAND_TYPE", "l.ts >= r.d")
  matching("l.ts >= r.m", "OPERAND_TYPE", "l.ts >= r.m")
  matching("map(l.ts, 1) >= r.m", "OPERAND_TYPE", "map(l.ts, 1) >= r.m")
  for (right <- Seq("date'2024-01-01' + r.ts", "timestamp(r.d)", "r.ts > 1", "binary(r.k)")) {
    matching(s"l.k >= $right", "OPERAND_TYPE", s"l.k >= $right")
    matching(s"$right <= l.k", "OPERAND_TYPE", s"$right <= l.k")
  }
  matching("array(l.k) >= array(r.d)", "OPERAND_TYPE", "array(l.k) >= array(r.d)")
  matching("l.ts >= max(r.ts)", "OPERAND", "max(r.ts)")
  matching("l.ts >= row_number() OVER (ORDER BY r.ts)", "OPERAND", "row_number() OVER (ORDER BY r.ts)")
  matching("l.ts >= r.ts + (SELECT 1)", "OPERAND", "(SELECT 1)")
  matching("l.ts >= r.ts + rand()", "OPERAND", "r.ts + rand()")

  error(
    "SELECT * FROM l ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k AND rand() > 0.5",
    "JOINERY_ASOF_JOIN.ON",
    "rand() > 0.5")
  error(
    "SELECT * FROM l ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) ON l.k IN (SELECT k FROM r x WHERE x.ts = r.ts)",
    "JOINERY_ASOF_JOIN.ON",
    "IN (SELECT k FROM r x WHERE x.ts = r.ts)"
  )
  error(
    "SELECT * FROM l a WHERE EXISTS (SELECT 1 FROM l ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) ON a.k = r.k)",
    "JOINERY_ASOF_JOIN.ON",
    "a.k = r.k")
  error(
    "SELECT * FROM l a WHERE EXISTS (SELECT 1 FROM (SELECT * FROM l WHERE l.k = a.k) l ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) USING (k))",
    "JOINERY_ASOF_JOIN.CORRELATED",
    "ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) USING (k)"
  )
  error(
    "SELECT * FROM r ASOF JOIN rate MATCH_CONDITION (r.ts >= rate.value)",
    "JOINERY_ASOF_JOIN.STREAMING",
    "ASOF JOIN rate MATCH_CONDITION (r.ts >= rate.value)"
  )

  // what any join refuses
  error(
    "SELECT * FROM l ASOF JOIN r MATCH_CONDITION (l.ts >= explode(array(r.ts)))",
    "UNSUPPORTED_GENERATOR.OUTSIDE_SELECT",
    "")
  for (on <- Seq("l.k", "l.id", "NULL", "concat(l.k, r.k)")) {
    error(
      s"SELECT * FROM l ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) ON $on",
      "JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE",
      s"ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) ON $on"
    )
  }
  error("SELECT * FROM l ASOF JOIN r MATCH_CONDITION (l.ts >= r.nope) USING (k)", "UNRESOLVED_COLUMN", "r.nope")
  error("SELECT * FROM l ASOF JOIN r MATCH_CONDITION (ts >= r.ts)", "AMBIGUOUS_REFERENCE", "ts")
  error(
    "SELECT * FROM l ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) USING (nope)",
    "UNRESOLVED_USING_COLUMN_FOR_JOIN",
    "")
  error("SELECT * FROM l ASOF JOIN nope r MATCH_CONDITION (l.ts >= r.ts)", "TABLE_OR_VIEW_NOT_FOUND", "nope")

  test("switched off, the statement is Spark's") {
    withConf("spark.joinery.asofJoin.enabled" -> "false") {
      val error =
        intercept[ParseException](sql("SELECT * FROM l ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k"))
      assert(error.getErrorClass == (if (sparkHasAsOfJoin) "UNSUPPORTED_FEATURE.ASOF_JOIN" else "PARSE_SYNTAX_ERROR"))
    }
  }
}
