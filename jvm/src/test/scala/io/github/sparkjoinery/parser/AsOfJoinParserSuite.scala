package io.github.sparkjoinery.parser

import org.apache.spark.sql.catalyst.TableIdentifier

import io.github.sparkjoinery.{Answers, AsOfJoinChecks, SinceSpark40}

/** Every way to write an ASOF JOIN. The oracle is `JOIN LATERAL (... ORDER BY ... LIMIT 1)`. */
class AsOfJoinParserSuite extends AsOfJoinChecks {

  override protected def beforeAll(): Unit = views(
    "l" -> """SELECT * FROM VALUES (1, 'a', 10), (2, 'a', 20), (3, 'b', 15), (4, 'c', 5), (5, NULL, 7), (6, 'a', NULL)
             |AS t(id, k, ts)""".stripMargin,
    "r" -> "SELECT * FROM VALUES ('a', 5, 1), ('a', 15, 2), ('a', NULL, 3), ('b', 16, 4), ('b', 20, 5), (NULL, 1, 6), ('a', 10, 7) AS t(k, ts, v)",
    "s" -> "SELECT * FROM VALUES (1, 100), (2, 200), (4, 400) AS t(v, w)"
  )

  private val ColumnsOf = "l.id, r.ts, r.v"

  private def lateral(kind: String, match0: String, order: String, on: String = "true"): String =
    s"SELECT $ColumnsOf FROM l $kind JOIN LATERAL (SELECT * FROM r WHERE $match0 AND $on ORDER BY $order LIMIT 1) r ON true"

  private def same(from: String, oracle: String): Unit =
    test(from, SinceSpark40)(checkAsOfJoin(s"SELECT $ColumnsOf FROM $from", oracle))

  for ((op, order) <- Seq(">=" -> "r.ts DESC", ">" -> "r.ts DESC", "<=" -> "r.ts", "<" -> "r.ts")) {
    val reversed = op.replace('<', '~').replace('>', '<').replace('~', '>')
    for ((kind, inner) <- Seq("" -> true, "INNER" -> true, "LEFT" -> false, "LEFT OUTER" -> false)) {
      same(
        s"l $kind ASOF JOIN r MATCH_CONDITION (l.ts $op r.ts) ON l.k = r.k",
        lateral(if (inner) "" else "LEFT", s"l.ts $op r.ts", order, "l.k = r.k"))
    }
    same(s"l ASOF JOIN r MATCH_CONDITION (r.ts $reversed l.ts)", lateral("", s"l.ts $op r.ts", order))
  }
  same(
    "l left /* one */ Asof -- two\n join r match_condition(l.ts >= r.ts) on l.k = r.k AND r.v <> 2",
    lateral("LEFT", "l.ts >= r.ts", "r.ts DESC", "l.k = r.k AND r.v <> 2")
  )
  same("l ASOF JOIN r MATCH_CONDITION ((l.ts >= r.ts + 1))", lateral("", "l.ts > r.ts", "r.ts DESC"))
  same(
    "l ASOF JOIN (SELECT * FROM r WHERE v > 1) AS r MATCH_CONDITION (l.ts >= r.ts)",
    lateral("", "l.ts >= r.ts AND r.v > 1", "r.ts DESC"))
  same(
    "(l) ASOF JOIN r TABLESAMPLE (100 PERCENT) MATCH_CONDITION (l.ts >= r.ts)",
    lateral("", "l.ts >= r.ts", "r.ts DESC"))
  same("l ASOF JOIN r MATCH_CONDITION (id >= v)", lateral("", "l.id >= r.v", "r.v DESC"))
  same("l ASOF JOIN r MATCH_CONDITION (15 >= r.ts) ON l.k = r.k", lateral("", "r.ts <= 15", "r.ts DESC", "l.k = r.k"))

  test("USING: the columns of a join with USING, and qualified ones of either side", SinceSpark40) {
    for ((kind, join) <- Seq("ASOF" -> "", "LEFT ASOF" -> "LEFT")) {
      checkAsOfJoin(
        s"SELECT *, l.k AS lk FROM l $kind JOIN r MATCH_CONDITION (l.ts >= r.ts) USING (k)",
        s"""SELECT l.k, l.id, l.ts, r.ts, r.v, l.k AS lk FROM l $join JOIN LATERAL
           |(SELECT * FROM r WHERE r.k = l.k AND l.ts >= r.ts ORDER BY r.ts DESC LIMIT 1) r ON true""".stripMargin
      )
    }
    checkAsOfJoin(
      "SELECT k, a.id, b.id AS other FROM l a LEFT ASOF JOIN l b MATCH_CONDITION (a.ts > b.ts) USING (k)",
      """SELECT a.k, a.id, b.id AS other FROM l a LEFT JOIN LATERAL
        |(SELECT * FROM l b WHERE b.k = a.k AND a.ts > b.ts ORDER BY b.ts DESC LIMIT 1) b ON true""".stripMargin
    )
  }

  test("literals on the right: any row; and a constant order") {
    val rows =
      Answers.rows(sql("SELECT l.id, count(r.k IS NULL) FROM l ASOF JOIN r MATCH_CONDITION (l.ts >= 10) GROUP BY ALL"))
    assert(rows == Seq("(1, 1)", "(2, 1)", "(3, 1)"))
  }

  test("chains, with other joins and LAST JOIN", SinceSpark40) {
    checkAsOfJoin(
      "SELECT l.id, r.v, s.w, x.v AS y FROM l ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k LEFT JOIN s ON s.v = r.v " +
        "LEFT ASOF JOIN r x MATCH_CONDITION (l.ts < x.ts) LAST JOIN r z ORDER BY z.ts ON z.k = l.k",
      """SELECT l.id, r.v, s.w, x.v AS y FROM l JOIN LATERAL (SELECT * FROM r WHERE r.k = l.k AND l.ts >= r.ts ORDER BY r.ts DESC LIMIT 1) r
        |LEFT JOIN s ON s.v = r.v LEFT JOIN LATERAL (SELECT * FROM r WHERE l.ts < r.ts ORDER BY r.ts LIMIT 1) x""".stripMargin
    )
  }

  test("in subqueries, common table expressions and pipes", SinceSpark40) {
    val ids = Seq("(1)", "(2)")
    for (query <- Seq(
        "WITH q AS (SELECT l.id FROM l ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) USING (k)) SELECT * FROM q",
        "SELECT id FROM s JOIN l ON id = v WHERE id IN (SELECT l.id FROM l ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k)",
        "SELECT id FROM l WHERE EXISTS (SELECT 1 FROM r a ASOF JOIN r b MATCH_CONDITION (a.ts > b.ts) USING (k) WHERE a.k = l.k AND id < 3)",
        "FROM l |> INNER ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) USING (k) |> SELECT id"
      )) {
      assert(Answers.rows(sql(query)) == ids, query)
      assert(operators(sql(query)).exists(_.endsWith("LastJoin")), query)
    }
  }

  test("hints name the right side") {
    for ((hint, operator) <- Operators; join <- Seq("ASOF", "LEFT ASOF")) {
      val query = s"SELECT /*+ $hint(r) */ * FROM l $join JOIN r MATCH_CONDITION (l.ts >= r.ts) USING (k)"
      assert(operators(sql(query)).contains(operator), query)
      checkDecision(query, "hint")
    }
  }

  for (legacy <- Seq("false", "true")) {
    test(s"parameters, legacy substitution $legacy") {
      withConf("spark.sql.legacy.parameterSubstitution.constantsOnly" -> legacy) {
        for (criterion <- Seq("USING (k)", "ON l.k = r.k")) {
          val from = s"FROM l ASOF JOIN r MATCH_CONDITION (l.ts - 0 >= r.ts + 0) $criterion"
          val named = spark.sql(
            s"SELECT :a AS a, id, v $from WHERE id < :b".replace("- 0", "- :n").replace("+ 0", "+ :m"),
            Map[String, Any]("a" -> "\uD83D\uDE00", "b" -> 3, "n" -> 5, "m" -> 0))
          assert(Answers.rows(named) == Seq("('\uD83D\uDE00', 1, 1)", "('\uD83D\uDE00', 2, 2)"))
          val positional = spark.sql(
            s"SELECT ? AS a, id, v $from WHERE id < ?".replace("- 0", "- ?").replace("+ 0", "+ ?"),
            Array[Any]("x", 5, 0, 3))
          assert(Answers.rows(positional) == Seq("('x', 1, 1)", "('x', 2, 2)"))
        }
      }
    }
  }

  test("a script, EXECUTE IMMEDIATE and a view, which keeps the user's text", SinceSpark40) {
    val query =
      "SELECT l.id, r.v FROM lt l\n left asof -- !\n JOIN rt r MATCH_CONDITION (l.ts >= r.ts) USING (k) WHERE id = 1"
    withTables("v", "lt", "rt") {
      sql("CREATE TABLE lt USING parquet AS SELECT * FROM l")
      sql("CREATE TABLE rt USING parquet AS SELECT * FROM r")
      sql(s"CREATE VIEW v AS $query")
      for (text <-
          Seq("SELECT * FROM v", query, s"BEGIN\n IF true THEN $query; END IF;\nEND", s"EXECUTE IMMEDIATE '$query'")) {
        assert(Answers.rows(sql(text)) == Seq("(1, 7)"), text)
      }
      assert(spark.sessionState.catalog.getTableMetadata(TableIdentifier("v")).viewText.contains(query))
    }
  }

  test("rows of VALUES, and names of clauses, as the right side") {
    val expected = Answers.rows(sql("SELECT l.id, v FROM l LEFT ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) USING (k)"))
    for (name <- Seq("window", "offset", "limit", "sort", "where"); right <- Seq(s"r AS $name", s"r $name"))
      assert(Answers.rows(
        sql(s"SELECT l.id, v FROM l LEFT ASOF JOIN $right MATCH_CONDITION (l.ts >= $name.ts) USING (k)")) == expected)
    assert(Answers.rows(sql("""SELECT l.id, v FROM l INNER ASOF JOIN VALUES ('a', 5, 1), ('b', 9, 2) AS r(k, ts, v)
      MATCH_CONDITION (l.ts >= r.ts) USING (k)""")) == Seq("(1, 1)", "(2, 1)", "(3, 2)"))
  }

  test("asof and match_condition are still names") {
    assert(Answers.rows(sql("SELECT asof.id FROM l asof JOIN r ON asof.ts = r.ts")) == Seq("(1)", "(2)", "(3)", "(4)"))
    assert(Answers.rows(sql("SELECT asof, match_condition FROM (SELECT 1 AS asof, 2 AS match_condition) asof")) == Seq(
      "(1, 2)"))
    assert(Answers.rows(sql("SELECT asof.id FROM l AS asof JOIN r match_condition ON asof.ts = match_condition.ts")) ==
      Seq("(1)", "(2)", "(3)", "(4)"))
    assert(Answers.rows(sql(
      "SELECT asof.id FROM l asof ASOF JOIN r match_condition MATCH_CONDITION (asof.ts > match_condition.ts) USING (k)")) ==
      Seq("(1)", "(2)"))
    withTables("asof") {
      sql("CREATE TABLE asof USING parquet AS SELECT * FROM l")
      assert(sql("SELECT * FROM asof JOIN r USING (ts)").count() == 4)
      assert(sql("SELECT * FROM asof ASOF JOIN r MATCH_CONDITION (asof.ts > r.ts) USING (k)").count() == 2)
    }
    sql("SET some.key=a ASOF JOIN b MATCH_CONDITION (a)")
    assert(spark.conf.get("some.key") == "a ASOF JOIN b MATCH_CONDITION (a)")
    spark.conf.unset("some.key")
  }
}
