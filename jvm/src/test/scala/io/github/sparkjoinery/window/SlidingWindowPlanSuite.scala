package io.github.sparkjoinery.window

import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.execution.{InputAdapter, SortExec, SparkPlan, WholeStageCodegenExec}
import org.apache.spark.sql.expressions.{Aggregator, Window}
import org.apache.spark.sql.functions.{col, product, udaf}
import org.apache.spark.sql.{DataFrame, Encoder, Encoders}

import io.github.sparkjoinery.window.exec.SlidingWindowExec
import io.github.sparkjoinery.{Answers, SinceSpark40}

/** Plans of windows: the operator that runs them and why, the operators around it, and generated code. */
class SlidingWindowPlanSuite extends WindowChecks {

  private val Rows = 300

  override protected def beforeAll(): Unit = {
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    spark.udf.register("longest", udaf(Longest, Encoders.STRING))
    sql(s"""SELECT int(id) AS id, if(id % 10 = 3, NULL, int(id % 7)) AS k, int(pmod(hash(id), 90)) AS o, if(id % 6 = 1, NULL, int(pmod(hash(id + 5), 50))) AS v,
           |concat('s', id % 13) AS s, named_struct('a', id, 'b', array(string(id))) AS nested, CAST(id % 9 AS DECIMAL(30, 2)) AS wide,
           |make_ym_interval(0, int(id % 40)) AS months FROM range(0, $Rows, 1, 3)""".stripMargin).localCheckpoint().createOrReplaceTempView(
      "t")
  }

  override protected def afterAll(): Unit = {
    spark.conf.unset("spark.sql.adaptive.enabled")
    sql("DROP TEMPORARY FUNCTION longest")
    super.afterAll()
  }

  private val Last3 = "(PARTITION BY k ORDER BY o, id ROWS 2 PRECEDING)"
  private val query = s"SELECT id, sum(v) OVER $Last3 AS f FROM t"

  private def names(query: DataFrame): Seq[String] = operators(query).map(_.takeWhile(_ != ' '))
  private def count(query: DataFrame, name: String): Int = names(query).count(_ == name)
  private def sorts(query: DataFrame): Int = collect(plan(query)) { case sort: SortExec => sort }.size

  private def inGeneratedCode(query: DataFrame): Boolean = {
    def fused(node: SparkPlan): Seq[SparkPlan] = node match {
      case _: InputAdapter => Nil
      case other => other +: other.children.flatMap(fused)
    }
    collect(plan(query)) { case stage: WholeStageCodegenExec => fused(stage.child) }.flatten.exists(
      _.nodeName == Operator)
  }

  /** The query gives Spark's answer, with these numbers of operators. */
  private def checkPlan(text: String, counts: (String, Int)*): DataFrame = {
    checkWindow(text)
    val answer = sql(text)
    for ((name, expected) <- counts) assert(count(answer, name) == expected, s"$name\n${plan(answer)}")
    answer
  }

  // the operator

  test("in a correlated subquery, where Spark adds a column that is no function", SinceSpark40) {
    for (frame <- Seq("ROWS 3 PRECEDING", "RANGE BETWEEN 5 PRECEDING AND CURRENT ROW");
      correlated <- Seq("x.id % 7 = t.o % 7", "x.v <= t.o")) {
      val values = s"SELECT sum(v) OVER (PARTITION BY k ORDER BY o $frame) AS f FROM t WHERE $correlated"
      checkPlan(s"SELECT x.id FROM t x WHERE x.v < (SELECT min(f) FROM ($values)) AND x.id < 20", Operator -> 1)
      checkPlan(
        s"SELECT x.id FROM t x WHERE x.v < (SELECT f FROM ($values) ORDER BY f LIMIT 1) AND x.id < 20",
        Operator -> 1)
    }
  }

  test("in place of Spark's window operator and of its sort") {
    assert(names(sql(query)) == Seq("Project", "SlidingWindow", "Exchange", "Project", "Scan"))
  }

  test("switched off: Spark's own plan") {
    onStockWindows { assert(names(sql(query)) == Seq("Project", "Window", "Sort", "Exchange", "Project", "Scan")) }
  }

  for (adaptive <- Seq("true", "false");
    (wholeStage, factory) <- Seq("true" -> "CODEGEN_ONLY", "false" -> "CODEGEN_ONLY", "false" -> "NO_CODEGEN")) {
    test(s"generated code: whole stages $wholeStage, $factory, adaptive execution $adaptive") {
      withConf(
        "spark.sql.adaptive.enabled" -> adaptive,
        "spark.sql.codegen.wholeStage" -> wholeStage,
        "spark.sql.codegen.factoryMode" -> factory) {
        checkWindow(query)
        val answer = sql(query)
        answer.collect()
        assert(inGeneratedCode(answer) == wholeStage.toBoolean, plan(answer))
        assert(
          """\*\(\d+\) SlidingWindow""".r.findFirstIn(plan(answer).toString).isDefined == wholeStage.toBoolean,
          plan(answer))
      }
    }
  }

  test("it counts its rows") {
    val answer = sql(query)
    answer.collect()
    assert(
      collect(plan(answer)) { case window: SlidingWindowExec => window.metrics("numOutputRows").value } == Seq(Rows))
  }

  test("run twice, cached, written, limited") {
    val answer = sql(query)
    val rows = Answers.rows(answer)
    assert(Answers.rows(answer) == rows)
    val cached = sql(query).persist()
    try assert(Answers.rows(cached) == rows)
    finally cached.unpersist(blocking = true)
    withTables("written") {
      sql(s"CREATE TABLE written USING parquet AS $query")
      assert(Answers.rows(spark.table("written")) == rows)
    }
    val limited = sql(s"$query LIMIT 5")
    assert(limited.collect().map(Answers.text).toSet.subsetOf(rows.toSet) && limited.collect().length == 5 && isSliding(
      limited))
  }

  // between other operators

  test("a result within an expression, and the same function twice") {
    checkPlan(
      s"SELECT id, sum(v) OVER $Last3 / count(v) OVER $Last3 + 1 AS f, sum(v) OVER $Last3 AS g FROM t WHERE o > 3",
      Operator -> 1)
    checkPlan(
      s"SELECT id FROM (SELECT id, v, avg(v) OVER $Last3 AS f FROM t) WHERE v > f",
      Operator -> 1,
      "Filter" -> 1)
  }

  test("columns of every shape pass through") {
    checkPlan(
      s"SELECT id, nested, wide, s, sum(v) OVER $Last3 AS f, last(nested) OVER $Last3 AS g, max(wide) OVER $Last3 AS h FROM t",
      Operator -> 1)
  }

  test("rows that are kept by the operator above: broadcast, sorted, exploded") {
    val w = s"(SELECT id, nested, sum(v) OVER $Last3 AS f FROM t)"
    checkPlan(
      s"SELECT /*+ BROADCAST(w) */ t.id, w.nested, w.f FROM t JOIN $w w ON t.id = w.id",
      Operator -> 1,
      "BroadcastHashJoin" -> 1)
    checkPlan(s"SELECT id, f, nested FROM $w ORDER BY f, id", Operator -> 1)
    checkPlan(s"SELECT id * 10 + i AS place, f, i FROM (SELECT *, explode(array(1, 2, 3)) AS i FROM $w)", Operator -> 1)
    checkPlan(
      s"SELECT k, sum(f), count(*) FROM (SELECT k, sum(v) OVER $Last3 AS f FROM t) GROUP BY k",
      Operator -> 1,
      "Exchange" -> 1)
  }

  test("a window over another with the same order is not sorted again") {
    val inner = s"(SELECT id, k, o, sum(v) OVER $Last3 AS f FROM t)"
    for (outer <- Seq(
        Last3,
        "(PARTITION BY k ORDER BY o, id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
        "(PARTITION BY k ORDER BY o RANGE 5 PRECEDING)")) {
      checkPlan(s"SELECT id, max(f) OVER $outer AS g, f FROM $inner", Operator -> 2, "Sort" -> 0, "Exchange" -> 1)
    }
    checkPlan(
      s"SELECT id, sum(f) OVER (PARTITION BY k ORDER BY o, id) AS g, f FROM $inner",
      Operator -> 1,
      "Window" -> 1,
      "Sort" -> 0,
      "Exchange" -> 1)
    val growing = "(SELECT id, k, o, sum(v) OVER (PARTITION BY k ORDER BY o, id) AS f FROM t)"
    checkPlan(
      s"SELECT id, sum(f) OVER $Last3 AS g, f FROM $growing",
      Operator -> 1,
      "Window" -> 1,
      "Sort" -> 1,
      "Exchange" -> 1)
    checkPlan(
      s"SELECT id, sum(f) OVER (PARTITION BY k ORDER BY o DESC, id ROWS 2 PRECEDING) AS g, f FROM $inner",
      Operator -> 2,
      "Exchange" -> 1)
  }

  test("a chain of windows: the same keys, more keys, none") {
    checkPlan(
      s"""SELECT id, min(g) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS h FROM (
                 |  SELECT id, sum(f) OVER (PARTITION BY k, o ORDER BY id ROWS 1 PRECEDING) AS g FROM (
                 |    SELECT id, k, o, sum(v) OVER $Last3 AS f FROM t))""".stripMargin,
      Operator -> 3,
      "Exchange" -> 2
    )
  }

  test("a merge join above needs no sort of the window's rows") {
    val joined = checkPlan(
      s"SELECT /*+ MERGE(r) */ w.id * 1000 + r.id AS id, w.f FROM (SELECT id, k, sum(v) OVER $Last3 AS f FROM t) w JOIN t r ON w.k = r.k AND r.id < 20",
      Operator -> 1,
      "SortMergeJoin" -> 1
    )
    assert(sorts(joined) == 1, plan(joined)) // the other side's
  }

  test("two windows share a shuffle") {
    val left = "SELECT id, k, sum(v) OVER (PARTITION BY k ORDER BY o, id ROWS 2 PRECEDING) AS f FROM t"
    val same = sql(s"SELECT a.id, a.f + b.f AS f FROM ($left) a JOIN ($left) b ON a.k = b.k AND a.id = b.id")
    assert(collect(plan(same)) { case reused: ReusedExchangeExec => reused }.nonEmpty, plan(same))
    checkWindow(s"SELECT a.id, a.f + b.f AS f FROM ($left) a JOIN ($left) b ON a.k = b.k AND a.id = b.id")
    assert(plan(sql(left)).sameResult(plan(sql(left))))
    assert(!plan(sql(left)).sameResult(plan(sql(left.replace("2 PRECEDING", "3 PRECEDING")))))
  }

  test("several windows of a query: each by itself") {
    checkPlan(
      s"SELECT id, sum(v) OVER $Last3 AS a, sum(v) OVER (PARTITION BY s ORDER BY id ROWS 1 PRECEDING) AS b, rank() OVER (ORDER BY id) AS c FROM t",
      Operator -> 2,
      "Window" -> 1
    )
  }

  // windows left to Spark, and why

  private def explained(query: String): String =
    withConf("spark.joinery.explain" -> "true")(sql(s"EXPLAIN $query").head().getString(0))

  private def decline(function: String, reason: String): Unit = test(s"left to Spark: $function") {
    withConf(Interpreted: _*) {
      val text = s"SELECT id, $function AS f FROM t"
      checkDecision(text, reason)
      checkWindow(text, sliding = false)
    }
  }

  private val growing = "its frames only grow"
  decline("sum(v) OVER (PARTITION BY k ORDER BY o, id)", growing)
  decline("sum(v) OVER (PARTITION BY k)", growing)
  decline("count(*) OVER (ORDER BY o ROWS BETWEEN UNBOUNDED PRECEDING AND 3 FOLLOWING)", growing)
  decline("row_number() OVER (PARTITION BY k ORDER BY id)", growing)
  decline("rank() OVER (PARTITION BY k ORDER BY o)", growing)
  decline("lag(v, 2) OVER (PARTITION BY k ORDER BY id)", growing)
  decline("lead(v, 2, -1) OVER (PARTITION BY k ORDER BY id)", growing)
  decline("lag(v) IGNORE NULLS OVER (PARTITION BY k ORDER BY id)", "lag IGNORE NULLS")
  decline("ntile(4) OVER (PARTITION BY k ORDER BY id)", "ntile")
  decline("percent_rank() OVER (PARTITION BY k ORDER BY o)", "percent_rank")
  decline("cume_dist() OVER (PARTITION BY k ORDER BY o)", "cume_dist")
  decline(s"nth_value(v, 2) OVER $Last3", "nth_value")
  decline(s"collect_list(v) OVER $Last3", "collect_list")
  decline(s"sort_array(collect_set(v) OVER $Last3)", "collect_set")
  decline(s"percentile(v, 0.5) OVER $Last3", "percentile")
  decline(s"approx_count_distinct(v) OVER $Last3", "approx_count_distinct")
  decline(s"longest(s) OVER $Last3", "longest")
  decline(
    "count(*) OVER (PARTITION BY k ORDER BY wide RANGE 2 PRECEDING)",
    "RANGE with an offset of type DECIMAL(30,2)")
  decline(
    "count(*) OVER (PARTITION BY k ORDER BY months RANGE INTERVAL '0-2' YEAR TO MONTH PRECEDING)",
    "RANGE with an offset of type INTERVAL YEAR TO MONTH")

  test("left to Spark: product, which is in DataFrames alone") {
    val products = spark.table("t").withColumn(
      "f",
      product(col("v") % 3).over(Window.partitionBy("k").orderBy("id").rowsBetween(-2, 0)))
    products.createOrReplaceTempView("products")
    checkDecision("SELECT id, f FROM products", "product")
    checkWindow("SELECT id, f FROM products", sliding = false)
  }

  test("taken: the reason, in EXPLAIN", SinceSpark40) {
    checkDecision(query, "a moving frame")
    assert(explained(query).contains("SlidingWindow: a moving frame"), explained(query))
  }

  test("functions that Spark keeps, next to those it does not") {
    for ((function, name) <- Seq(
        s"collect_list(v) OVER $Last3" -> "collect_list",
        s"percentile(v, 0.5) OVER $Last3" -> "percentile",
        s"nth_value(v, 2) OVER $Last3" -> "nth_value",
        s"longest(s) OVER $Last3" -> "longest",
        "ntile(3) OVER (PARTITION BY k ORDER BY o, id)" -> "ntile",
        "lag(v) IGNORE NULLS OVER (PARTITION BY k ORDER BY o, id)" -> "lag"
      )) {
      val text = s"SELECT id, $function AS f, sum(v) OVER $Last3 AS g, nested, count(*) OVER $Last3 AS h FROM t"
      checkPlan(text, Operator -> 1, "Window" -> 1, "Exchange" -> 1, "Sort" -> 1)
      checkDecision(text, s"a moving frame; Spark's operator keeps $name")
    }
  }

  test("growing functions ride along with a moving one") {
    checkPlan(
      s"""SELECT id, sum(v) OVER $Last3 AS a, row_number() OVER w AS b, rank() OVER w AS c, dense_rank() OVER w AS d, lag(v, 2) OVER w AS e,
         |lead(s, 1, 'none') OVER w AS f, sum(v) OVER w AS g, max(s) OVER (PARTITION BY k) AS h, first(v) OVER w AS i
         |FROM t WINDOW w AS (PARTITION BY k ORDER BY o, id)""".stripMargin,
      Operator -> 1
    )
  }

  test("an expression of a function that is left and one that is taken") {
    checkWindow(
      s"SELECT id, size(collect_list(v) OVER $Last3) - count(v) OVER $Last3 AS f, count(*) OVER $Last3 AS g FROM t")
  }
}

/** A function of the user's: the longest string. */
private object Longest extends Aggregator[String, String, String] {
  override def zero: String = ""
  override def reduce(a: String, b: String): String = if (b != null && b.length > a.length) b else a
  override def merge(a: String, b: String): String = reduce(a, b)
  override def finish(longest: String): String = longest
  override def bufferEncoder: Encoder[String] = Encoders.STRING
  override def outputEncoder: Encoder[String] = Encoders.STRING
}
