package io.github.sparkjoinery.lastjoin

import io.github.sparkjoinery.{Answers, LastJoinChecks, LastJoinQuery, OrderTerm}

/** Keys and order columns of every type. */
class LastJoinTypesSuite extends LastJoinChecks {

  /** A type by five SQL values of it, the ones that are equal, sort or hash oddly among them. */
  private val types = Seq(
    "boolean" -> "false, true, false, true, false",
    "tinyint" -> "-128Y, -1Y, 0Y, 1Y, 127Y",
    "int" -> "-2147483648, -1, 0, 1, 2147483647",
    "bigint" -> "-9223372036854775808, -1L, 0L, 1L, 9223372036854775807",
    "float" -> "float('-0.0'), float('0.0'), float('NaN'), float('Infinity'), 1.5F",
    "double" -> "double('-0.0'), double('0.0'), double('NaN'), double('-Infinity'), 1.5D",
    "decimal" -> "-1.10BD, 0.00BD, 1.10BD, 99999999.99BD, 0.01BD",
    "long decimal" -> "CAST(1e30 AS DECIMAL(38, 4)), -1.5BD, 0BD, 1.5BD, 2BD",
    "string" -> "'', 'a', 'A', 'ä', '\uD83D\uDE00'",
    "collated string" -> "'' COLLATE UTF8_LCASE, 'a' COLLATE UTF8_LCASE, 'A' COLLATE UTF8_LCASE, 'b' COLLATE UTF8_LCASE, 'B' COLLATE UTF8_LCASE",
    "binary" -> "X'', X'00', X'0000', X'FF', X'7F'",
    "date" -> "DATE'0001-01-01', DATE'1969-12-31', DATE'1970-01-01', DATE'2024-02-29', DATE'9999-12-31'",
    "timestamp" -> "TIMESTAMP'0001-01-01', TIMESTAMP'1969-12-31 23:59:59.999999', TIMESTAMP'1970-01-01', TIMESTAMP'2024-02-29', TIMESTAMP'2024-02-29 00:00:00.000001'",
    "timestamp without zone" -> "TIMESTAMP_NTZ'0001-01-01', TIMESTAMP_NTZ'1969-12-31', TIMESTAMP_NTZ'1970-01-01', TIMESTAMP_NTZ'2024-02-29', TIMESTAMP_NTZ'9999-12-31'",
    "year-month interval" -> "INTERVAL '1' MONTH, INTERVAL '12' MONTH, INTERVAL '-1' MONTH, INTERVAL '0' MONTH, INTERVAL '1' MONTH",
    "day-time interval" -> "INTERVAL '1' SECOND, INTERVAL '60' SECOND, INTERVAL '-1' SECOND, INTERVAL '0' SECOND, INTERVAL '1' SECOND",
    "struct" -> """named_struct('x', 1, 'y', double('0.0')), named_struct('x', 1, 'y', double('-0.0')), named_struct('x', 1, 'y', double('NaN')),
                  |named_struct('x', 1, 'y', CAST(NULL AS DOUBLE)), named_struct('x', CAST(NULL AS INT), 'y', 1D)""".stripMargin,
    "struct of collated strings" -> """named_struct('x', 'a' COLLATE UTF8_LCASE), named_struct('x', 'A' COLLATE UTF8_LCASE), named_struct('x', 'b' COLLATE UTF8_LCASE),
                  |named_struct('x', CAST(NULL AS STRING COLLATE UTF8_LCASE)), named_struct('x', 'C' COLLATE UTF8_LCASE)""".stripMargin,
    "array" -> "array(), array(1), array(1, NULL), array(CAST(NULL AS INT)), array(1, 2)",
    "array of doubles" -> "array(double('0.0')), array(double('-0.0')), array(double('NaN')), array(), array(1D, 2D)"
  )

  /** Five values and, as the sixth, NULL, in a random but fixed order. */
  private def side(values: String, rows: Int, seed: Int): String =
    s"""SELECT CAST(id AS INT) AS id, try_element_at(array($values), int(pmod(hash(id, $seed), 6)) + 1) AS k,
       |try_element_at(array($values), int(pmod(hash(id, $seed + 1), 6)) + 1) AS o, CAST(id % 3 AS INT) AS v
       |FROM (SELECT * FROM range(0, $rows, 1, 2))""".stripMargin

  private def everyForm(query: LastJoinQuery, columns: String = "*"): Unit = {
    val answer = asOracle(Answers.rows(sql(s"SELECT $columns FROM (${query.candidates})")))
    for ((hint, operator) <- LastJoinForms) {
      val joined = sql(s"SELECT $columns FROM (${query.sql(hint)})")
      assert(Answers.rows(joined) == answer, query.sql(hint))
      assert(operators(joined).contains(operator), plan(joined))
    }
  }

  for ((name, values) <- types) test(s"$name as key, order and as-of column") {
    withConf("spark.sql.adaptive.enabled" -> "false") {
      computedViews("l" -> side(values, 20, 1), "r" -> side(values, 30, 3))
      everyForm(LastJoinQuery(Seq(OrderTerm("r.o"), OrderTerm("r.id")), "l.k = r.k"))
      everyForm(LastJoinQuery(Seq(OrderTerm("r.o", "DESC"), OrderTerm("r.id")), "l.k <=> r.k AND r.v <= l.v"))
      everyForm(LastJoinQuery(Seq(OrderTerm("r.o"), OrderTerm("r.id", "DESC")), "l.v = r.v AND r.o <= l.o"))
    }
  }

  test("days added at the ends of DATE, where they wrap around") {
    val days = Seq(Int.MinValue, Int.MinValue + 1, -1, Int.MaxValue)
    val ends = days.map(day => s"date_from_unix_date($day)").mkString(", ")
    computedViews("l" -> side(ends, 20, 1), "r" -> side(ends, 30, 3))
    for ((direction, on) <- Seq(
        "" -> "date_add(r.o, 3) <= l.o",
        "DESC" -> "date_sub(r.o, 3) >= l.o",
        "" -> "r.o + INTERVAL '3' DAY >= l.o",
        "" -> "r.o <= l.o AND datediff(l.o, r.o) <= 3")) {
      // such dates cannot be collected
      everyForm(LastJoinQuery(Seq(OrderTerm("r.o", direction), OrderTerm("r.id")), s"l.v = r.v AND $on"), "id, rid")
    }
  }

  test("a difference that overflows between rows which ON does not compare") {
    computedViews(
      "l" -> "SELECT 1 AS id, 1 AS k, INTERVAL '1' DAY AS o, 1 AS v",
      "r" -> """SELECT 1 AS id, k, o, k AS v
               |FROM VALUES (1, DATE'2024-01-01'), (2, date_from_unix_date(2147483647)) AS t(k, o)""".stripMargin
    )
    everyForm(LastJoinQuery(Seq(OrderTerm("r.o")), "l.k = r.k AND r.o - DATE'2023-12-31' <= l.o"))
  }

  test("keys of two types meet in the type that Spark coerces them to") {
    val keys = Seq("1, 2, 3", "1L, 2L, 3L", "1.0D, 2.0D, 2.5D", "1.0BD, 2.0BD, 2.5BD", "'1', '2', '3'")
    for ((left, right) <- keys.zip(keys.tail :+ keys.head) ++ keys.tail.map(_ -> keys.head)) {
      computedViews(
        "l" -> s"SELECT id, k, 1 AS o, 1 AS v FROM (SELECT posexplode(array($left)) AS (id, k))",
        "r" -> s"SELECT id, k, 2 AS o, 2 AS v FROM (SELECT posexplode(array($right)) AS (id, k))"
      )
      everyForm(LastJoinQuery(Seq(OrderTerm("r.id")), "l.k = r.k"))
    }
  }

  test("order and as-of columns of two types") {
    computedViews(
      "l" -> "SELECT id, k, o, k AS v FROM VALUES (1, 1, DATE'2024-01-02'), (2, 1, DATE'2024-01-01') AS t(id, k, o)",
      "r" -> "SELECT id, k, o, k AS v FROM VALUES (1, 1, TIMESTAMP'2024-01-01 12:00:00'), (2, 1, TIMESTAMP'2024-01-01') AS t(id, k, o)"
    )
    for (suffix <- Seq("", "DESC"); op <- Seq("<=", "<", ">", ">=")) {
      everyForm(LastJoinQuery(Seq(OrderTerm("r.o", suffix)), s"l.k = r.k AND r.o $op l.o"))
    }
  }

  test("an order by an expression, and an as-of condition over the same expression") {
    computedViews("l" -> side("1, 2, 3, 4, 5", 20, 1), "r" -> side("1, 2, 3, 4, 5", 30, 3))
    everyForm(LastJoinQuery(Seq(OrderTerm("r.o % 3"), OrderTerm("r.id")), "l.k = r.k AND r.o % 3 <= l.o"))
    everyForm(LastJoinQuery(Seq(OrderTerm("abs(r.o - r.k)", "DESC"), OrderTerm("r.id")), "abs(r.o - r.k) >= l.o"))
  }
}
