package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.functions._
import org.apache.spark.sql.{AnalysisException, Column, DataFrame}

import io.github.sparkjoinery.implicits._
import io.github.sparkjoinery.{Answers, AsOf, LastJoinChecks}

/**
 * ORDER BY and `as_of` over columns that a side has but does not show. Spark's filters find such columns, and project
 * them away above. The rules of LAST JOIN have to look below that projection.
 */
class HiddenColumnsSuite extends LastJoinChecks {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    views(
      "l" -> "SELECT * FROM VALUES (1, 2), (2, 1), (2, 5) AS t(k, t)",
      "r" -> "SELECT * FROM VALUES (1, 1, 10), (1, 3, 30), (2, 2, 20), (2, 2, 19), (2, 9, 90) AS t(k, ts, v)",
      "o" -> "SELECT * FROM VALUES (2), (3), (10) AS t(x)"
    )
    sql("CREATE TABLE stored USING parquet AS SELECT * FROM r")
  }

  override protected def afterAll(): Unit = {
    sql("DROP TABLE stored")
    super.afterAll()
  }

  private def l: DataFrame = spark.table("l")
  private def r: DataFrame = spark.table("r")
  private val fileName = col("_metadata.file_name")

  /** The expected values without a limit in time, with `as_of`, and with `as_of` and a tolerance of 0. */
  private case class Found(last: Seq[Any], asOf: Seq[Any], within: Seq[Any])

  private val Lefts = Seq(1 -> 2, 2 -> 1, 2 -> 5)

  private def check(name: String, column: String, found: Found)(right: => DataFrame, order: Column*): Unit =
    test(name) {
      def same(joined: DataFrame, key: String, expected: Seq[Any]): Unit = {
        assert(Answers.rows(joined.select(col(key), col("t"), col(column))) == rows(expected))
        assert(operators(joined).exists(_.endsWith("LastJoin")), plan(joined))
      }
      val renamed = l.withColumnRenamed("k", "j")
      val on = col("j") === col("k")
      for ((asOf, expected) <- Seq(
          None -> found.last,
          Some(AsOf(col("t"))) -> found.asOf,
          Some(AsOf(col("t"), lit(0))) -> found.within)) {
        val byNames = asOf.fold(l.lastJoin(right, Seq("k"), order: _*))(l.lastJoin(right, Seq("k"), _, order: _*))
        assert(byNames.columns.toSeq == Seq("k", "t") ++ right.columns.filter(_ != "k"))
        same(byNames, "k", expected)
        val byCondition = asOf.fold(renamed.lastJoin(right, on, order: _*))(renamed.lastJoin(right, on, _, order: _*))
        assert(byCondition.columns.toSeq == Seq("j", "t") ++ right.columns)
        same(byCondition, "j", expected)
        val again = byNames.as("a").join(byNames.as("b"), col("a.k") === col("b.k") && col("a.t") === col("b.t"))
        assert(Answers.rows(again.select(col("a.k"), col("b.t"), col(s"b.$column"))) == rows(expected))
      }
    }

  private def rows(values: Seq[Any]): Seq[String] =
    Lefts.zip(values).map { case ((k, t), value) => s"($k, $t, ${Answers.text(value)})" }.sorted

  private val OfV = Found(Seq(30, 90, 90), Seq(10, null, 20), Seq(null, null, null))

  check("selected away", "v", OfV)(r.select("k", "v"), col("ts"), col("v"))
  check("dropped", "v", OfV)(r.drop("ts"), col("ts"), col("v"))
  check("dropped, descending", "v", Found(Seq(10, 20, 20), Seq(30, 20, 90), Seq(null, null, null)))(
    r.drop("ts"),
    col("ts").desc,
    col("v"))
  check(
    "an expression over what is selected away",
    "v",
    Found(Seq(30, 90, 90), Seq(10, null, 20), Seq(10, null, null)))(
    r.select("k", "v"),
    col("ts") + 1L,
    col("v"))
  check("a tie-break that is selected away", "ts", Found(Seq(3, 9, 9), Seq(1, null, 2), Seq(null, null, null)))(
    r.select("k", "ts"),
    col("ts"),
    col("v"))
  check("a metadata column", "ts", Found(Seq(3, 9, 9), Seq(1, null, 2), Seq(null, null, null)))(
    spark.table("stored"),
    col("ts"),
    fileName)
  check("an aggregate", "n", Found(Seq(2L, 3L, 3L), Seq(null, null, null), Seq(null, null, null)))(
    r.groupBy("k").agg(count(lit(1)).as("n")),
    max("ts"))
  check("a group", "n", Found(Seq(1L, 1L, 1L), Seq(1L, null, 2L), Seq(null, null, null)))(
    r.groupBy("k", "ts").agg(count(lit(1)).as("n")).select("k", "n"),
    col("ts"))
  check("below a hint", "v", OfV)(r.select("k", "v").hint("merge"), col("ts"), col("v"))

  test("the exact column of the frame that was selected from") {
    val (left, right) = (l, r)
    val fewer = right.select("k", "v")
    val joined = left.lastJoin(fewer, left("k") === fewer("k"), AsOf(left("t")), right("ts"), right("v"))
    assert(Answers.rows(joined.select(left("k"), col("t"), col("v"))) == rows(OfV.asOf))
  }

  test("a hint above the mark") {
    val order = call_function("joinery_last_join_order", col("ts"), col("v"))
    for ((hint, operator) <- LastJoinForms) {
      val joined = l.join(r.select("k", "v").filter(order).hint(hint), Seq("k"), "left")
      assert(Answers.rows(joined) == rows(OfV.last))
      assert(operators(joined).contains(operator), plan(joined))
    }
  }

  test("as of a column that the left side does not show") {
    val fewer = l.select("k")
    for (right <- Seq(r, r.select("k", "v"))) {
      val joined = fewer.lastJoin(right, Seq("k"), AsOf(col("t")), col("ts"), col("v"))
      assert(joined.columns.toSeq == Seq("k") ++ right.columns.filter(_ != "k"))
      assert(Answers.rows(joined.select("k", "v")) == Seq("(1, 10)", "(2, 20)", "(2, NULL)"))
      val within = fewer.lastJoin(right, Seq("k"), AsOf(col("t"), col("t") - 1), col("ts"), col("v"))
      assert(Answers.rows(within.select("k", "v")) == Seq("(1, 10)", "(2, 20)", "(2, NULL)"))
    }
    val groups = l.groupBy("k").agg(count(lit(1)).as("n"))
    assert(Answers.rows(groups.lastJoin(r, Seq("k"), AsOf(max("t")), col("ts"), col("v"))) ==
      Seq("(1, 1, 1, 10)", "(2, 2, 2, 20)"))
  }

  test("both sides of one table, or of one projection of it") {
    val computed = r.selectExpr("k", "v", "ts + 0 AS ts")
    for (table <- Seq(r, computed)) {
      val joined =
        table.select("k").lastJoin(table.select("k", "v"), Seq("k"), AsOf(col("ts") - 1), col("ts"), col("v"))
      assert(Answers.rows(joined) == Seq("(1, 10)", "(1, NULL)", "(2, 20)", "(2, NULL)", "(2, NULL)"))
    }
  }

  for (ansi <- Seq("true", "false"))
    test(s"types are made one, as where the columns are shown, with ANSI mode $ansi") {
      withConf("spark.sql.ansi.enabled" -> ansi) {
        def found(left: DataFrame, right: DataFrame, tolerance: String): Seq[Seq[String]] =
          for (fewer <- Seq(right, right.select("k", "v")))
            yield Answers.rows(
              left.lastJoin(fewer, Seq("k"), AsOf(col("t"), expr(tolerance)), col("ts"), col("v")).select("k", "v"))
        val texts = sql("SELECT 1 AS k, '2' AS t, '10' AS ts, 'found' AS v UNION ALL SELECT 1, '10', '9', 'other'")
        val days = sql("SELECT 1 AS k, DATE '2024-01-03' AS t, TIMESTAMP '2024-01-02 22:00' AS ts, 'found' AS v")
        for ((left, right, tolerance) <- Seq(
            (l, r.selectExpr("k", "bigint(ts) AS ts", "v"), "4"),
            (l.selectExpr("k", "double(t) AS t"), r, "4BD"),
            (l, texts, "4"),
            (days.select("k", "t"), days, "INTERVAL 1 HOUR"),
            (days.select("k", "t"), days, "INTERVAL 3 HOURS"),
            (days.selectExpr("k", "ts AS t"), days.selectExpr("k", "t AS ts", "v"), "INTERVAL 1 DAY")
          )) {
          val Seq(shown, hidden) = found(left, right, tolerance)
          assert(hidden == shown, (left, right, tolerance))
        }
      }
    }

  test("CHAR of two lengths, as where the columns are shown") {
    withTables("padded_left", "padded_right") {
      sql("CREATE TABLE padded_left (k INT, t CHAR(3)) USING parquet")
      sql("INSERT INTO padded_left VALUES (1, 'ab')")
      sql("CREATE TABLE padded_right (k INT, ts CHAR(5), v INT) USING parquet")
      sql("INSERT INTO padded_right VALUES (1, 'ab', 10)")
      val (left, right) = (spark.table("padded_left"), spark.table("padded_right"))
      for (fewer <- Seq(right, right.select("k", "v")); time <- Seq(col("t"), lit("ab")))
        assert(left.lastJoin(fewer, Seq("k"), AsOf(time), col("ts")).select("v").head.get(0) == 10)
    }
  }

  private val byTime = "ORDER BY s._metadata.file_modification_time, s.ts, s.v"

  test("columns of an outer query") {
    def query(order: String) =
      s"SELECT x, (SELECT sum(s.v) FROM l l LAST JOIN stored s $order ON l.k = s.k AND s.ts < o.x) AS sum FROM o"
    assert(Answers.rows(sql(query(byTime))) == Answers.rows(sql(query("ORDER BY s.ts, s.v"))))
    assert(Answers.rows(sql(query(byTime))) == Seq("(10, 210)", "(2, 10)", "(3, 50)"))
  }

  private def refused(name: String, condition: String)(query: => DataFrame): Unit = test(s"refused: $name") {
    val error = intercept[AnalysisException](query.collect())
    assert(error.getMessage.startsWith(s"[$condition"), error)
  }

  private def marked(right: DataFrame): DataFrame = right.filter(call_function("joinery_last_join_order", col("ts")))

  for (kind <- Seq("inner", "right", "full", "left_semi", "left_anti"))
    refused(s"in a $kind join", "JOINERY_LAST_JOIN.JOIN_TYPE")(l.join(marked(r.select("k", "v")), Seq("k"), kind))
  refused("without a join", "JOINERY_LAST_JOIN.MISPLACED_ORDER")(marked(r.select("k", "v")))
  refused("as of without a join", "JOINERY_LAST_JOIN.MISPLACED_AS_OF")(
    l.select("k").filter(call_function("joinery_last_join_as_of", col("t"))))
  refused("as of on the left of an ordinary join", "JOINERY_LAST_JOIN.MISPLACED_AS_OF")(
    l.select("k").filter(call_function("joinery_last_join_as_of", col("t"))).join(r, Seq("k"), "left"))
  refused("as of without an order", "JOINERY_LAST_JOIN.AS_OF_WITHOUT_ORDER")(
    l.select("k").lastJoin(r, Seq("k"), AsOf(col("t"))))
  refused("a tolerance that is no distance", "JOINERY_LAST_JOIN.TOLERANCE_TYPE")(
    l.lastJoin(r.select("k", "v"), Seq("k"), AsOf(col("t"), expr("INTERVAL 1 DAY")), col("ts")))
  refused("a time that does not compare", "DATATYPE_MISMATCH")(
    l.lastJoin(r.select("k", "v"), Seq("k"), AsOf(array(col("t"))), col("ts")))
  refused("a random number in ON", "JOINERY_LAST_JOIN.NONDETERMINISTIC_ON")(
    l.lastJoin(r.select("k", "v"), rand() < 2, col("ts")))
  refused("a random number in ON, beside a metadata column", "JOINERY_LAST_JOIN.NONDETERMINISTIC_ON")(
    sql(s"SELECT * FROM l l LAST JOIN stored s $byTime ON rand() < 2"))
  refused("a streaming right side", "JOINERY_LAST_JOIN.STREAMING")(
    l.lastJoin(spark.readStream.format("rate").load().select(lit(1).as("k")), Seq("k"), col("timestamp")))

  test("what is wrong with the time is said when the join is made") {
    intercept[AnalysisException](
      l.lastJoin(r.select("k", "v"), Seq("k"), AsOf(col("t"), expr("INTERVAL 1 DAY")), col("ts")))
  }
}
