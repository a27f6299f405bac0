package io.github.sparkjoinery.lastjoin

import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec
import org.apache.spark.sql.execution.exchange.{BroadcastExchangeExec, ReusedExchangeExec}
import org.apache.spark.sql.joinery.DataFrame

import io.github.sparkjoinery.lastjoin.logical.LastJoin
import io.github.sparkjoinery.{Answers, LastJoinChecks, OnDefaultLine, SinceSpark40}

/** The plans of a LAST JOIN from the parser to its operator, without adaptive execution. */
class LastJoinPlanSuite extends LastJoinChecks {

  override protected def beforeAll(): Unit = {
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    sql("CREATE TABLE flights USING parquet AS SELECT id, int(id % 3) AS k, int(id) AS ts, 'unused' AS note FROM range(0, 30, 1, 2)")
    sql("CREATE TABLE weather USING parquet AS SELECT int(id % 4) AS k, int(id * 2) AS ts, int(id) AS v, 'unused' AS note FROM range(0, 40, 1, 2)")
    sql("CREATE TABLE planes USING parquet AS SELECT int(id) AS k, string(id) AS name FROM range(3)")
  }

  override protected def afterAll(): Unit = {
    spark.conf.unset("spark.sql.adaptive.enabled")
    Seq("flights", "weather", "planes").foreach(table => sql(s"DROP TABLE $table"))
    super.afterAll()
  }

  private def from(order: String, on: String): String = s"FROM flights f LAST JOIN weather w ORDER BY $order ON $on"
  private val asOf = from("w.ts", "f.k = w.k AND w.ts <= f.ts")
  private def oracle(on: String): String =
    s"FROM flights f LEFT JOIN LATERAL (SELECT * FROM weather WHERE $on ORDER BY ts DESC LIMIT 1) w"
  private val asOfOracle = oracle("f.k = k AND ts <= f.ts")

  private def optimized(query: String): LogicalPlan = sql(query).queryExecution.optimizedPlan
  private def lastJoin(plan: LogicalPlan): LastJoin = plan.collectFirst { case join: LastJoin => join }.get

  // output

  for (criteria <- Seq("ON f.k = w.k", "USING (k)", "USING (k, ts)", "ON true");
    list <- Seq("*", "f.*, w.k AS wk, w.v")) {
    test(s"columns, types and nullability of SELECT $list ... $criteria are those of LEFT JOIN") {
      def schema(join: String) = sql(s"SELECT $list FROM flights f $join weather w $criteria").schema
      assert(schema("LAST JOIN") == schema("LEFT JOIN"))
    }
  }

  test("a right column that is never NULL becomes nullable, a left one does not") {
    val query = "SELECT f.id, w.one FROM range(4) f LAST JOIN (SELECT id, 1 AS one FROM range(2)) w ON f.id = w.id"
    assert(sql(query).schema.map(_.nullable) == Seq(false, true))
    assert(Answers.rows(sql(query)) == Seq("(0, 1)", "(1, 1)", "(2, NULL)", "(3, NULL)"))
    assert(Answers.rows(sql(s"SELECT id FROM ($query) WHERE one IS NULL")) == Seq("(2)", "(3)"))
  }

  // operators

  test("where Kryo has to know each class beforehand, no right side is broadcast", OnDefaultLine) {
    val reason = "spark.kryo.registrationRequired forbids to broadcast"
    withKryoRegistration {
      for (hint <- Seq("", "/*+ BROADCAST(w) */", "/*+ SHUFFLE_HASH(w) */"))
        checkDecision(s"SELECT $hint f.id, w.v $asOf", reason)
      checkDecision(s"SELECT f.id, w.v ${from("w.ts", "w.ts <= f.ts")}", reason)
      checkLastJoin(s"SELECT f.id, w.v $asOf", s"SELECT f.id, w.v $asOfOracle", "ShuffledHashLastJoin")
      checkLastJoin(
        s"SELECT f.id, w.v ${from("w.ts", "w.ts <= f.ts")}",
        s"SELECT f.id, w.v ${oracle("ts <= f.ts")}",
        "ShuffledHashLastJoin")
    }
    checkLastJoin(s"SELECT f.id, w.v $asOf", s"SELECT f.id, w.v $asOfOracle", "BroadcastLastJoin")
  }

  test("a hint BROADCAST for a partitioned table without statistics, whose size nobody knows") {
    withTables("parted") {
      sql("CREATE TABLE parted (k INT, ts INT, v INT, note STRING, p INT) USING parquet PARTITIONED BY (p)")
      sql("INSERT INTO parted SELECT k, ts, v, note, k % 2 AS p FROM weather")
      val conditions = Seq("f.k = w.k", "f.k = w.k AND w.ts <= f.ts", "f.k = w.k AND w.v > f.ts")
      for (on <- conditions; adaptive <- Seq("false", "true")) {
        withConf("spark.sql.adaptive.enabled" -> adaptive, "spark.sql.exchange.reuse" -> "false") {
          val query = s"SELECT /*+ BROADCAST(w) */ f.id, w.v FROM flights f LAST JOIN parted w ORDER BY w.ts ON $on"
          assert(operators(sql(query)).contains("BroadcastLastJoin"), plan(sql(query)))
          assert(Answers.rows(sql(query)) == Answers.rows(sql(query.replace("parted", "weather"))))
        }
      }
    }
  }

  test("neither a left join nor a deduplication is in the plan") {
    assert(operators(sql(s"SELECT f.id, w.v $asOf")).map(_.takeWhile(_ != ' ')) ==
      Seq(
        "Project",
        "BroadcastLastJoin",
        "ColumnarToRow",
        "Scan",
        "BroadcastExchange",
        "Filter",
        "ColumnarToRow",
        "Scan"))
    withConf("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
      assert(operators(sql(s"SELECT f.id, w.v $asOf")).map(_.takeWhile(_ != ' ')) == Seq(
        "Project",
        "ShuffledHashLastJoin",
        "Exchange",
        "ColumnarToRow",
        "Scan",
        "Exchange",
        "Filter",
        "ColumnarToRow",
        "Scan"))
      assert(operators(sql(s"SELECT /*+ MERGE(w) */ f.id, w.v $asOf")).map(_.takeWhile(_ != ' ')) == Seq(
        "Project",
        "SortMergeLastJoin",
        "Sort",
        "Exchange",
        "ColumnarToRow",
        "Scan",
        "Sort",
        "Exchange",
        "Filter",
        "ColumnarToRow",
        "Scan"))
    }
  }

  test("hints on an alias of the right side decide, for each operator", OnDefaultLine) {
    for ((hint, threshold, operator, reason) <- Seq(
        ("BROADCAST(w)", "-1", "BroadcastLastJoin", "hint"),
        ("MERGE(w)", "10MB", "SortMergeLastJoin", "hint"),
        ("SHUFFLE_HASH(w)", "10MB", "ShuffledHashLastJoin", "hint"),
        (
          "SHUFFLE_REPLICATE_NL(w)",
          "10MB",
          "ShuffledHashLastJoin",
          "hint shuffle_replicate_nl: LAST JOIN has no such form"),
        ("BROADCAST(f)", "10MB", "BroadcastLastJoin", "the right side is small"),
        ("BROADCAST(f)", "-1", "ShuffledHashLastJoin", "the right side is too large to broadcast")
      )) {
      withConf("spark.sql.autoBroadcastJoinThreshold" -> threshold) {
        val query = s"SELECT /*+ $hint */ f.id, w.v $asOf"
        checkLastJoin(query, s"SELECT f.id, w.v $asOfOracle", operator)
        checkDecision(query, reason)
      }
    }
  }

  test("without equality: the right side broadcast, or both sides in one partition", SinceSpark40) {
    val query = s"SELECT f.id, w.v ${from("w.ts", "w.ts < f.ts AND w.v <> f.k")}"
    val answer = s"SELECT f.id, w.v ${oracle("ts < f.ts AND v <> f.k")}"
    checkLastJoin(query, answer, "BroadcastLastJoin")
    withConf("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
      checkLastJoin(query, answer, "ShuffledHashLastJoin")
      assert(sql(query).rdd.getNumPartitions == 1)
    }
  }

  test("a partition of the right side too large to hash is merged", SinceSpark40) {
    withConf("spark.sql.autoBroadcastJoinThreshold" -> "-1", "spark.joinery.lastJoin.maxHashPartition" -> "10") {
      val query = s"SELECT f.id, w.v $asOf"
      checkLastJoin(query, s"SELECT f.id, w.v $asOfOracle", "SortMergeLastJoin")
      checkDecision(query, "a partition of it is too large to hash")
      checkLastJoin(
        query.replace("SELECT", "SELECT /*+ SHUFFLE_HASH(w) */"),
        s"SELECT f.id, w.v $asOfOracle",
        "ShuffledHashLastJoin")
    }
  }

  test("the left side keeps its partitioning and order, so that nothing above shuffles or sorts again") {
    withConf("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
      val query = """SELECT f.k, max(w.v), max(p.name) FROM flights f LAST JOIN weather w ORDER BY w.ts ON f.k = w.k
                    |LAST JOIN planes p ORDER BY p.name ON f.k = p.k GROUP BY f.k""".stripMargin
      assert(operators(sql(query)).count(_ == "Exchange") == 3) // one for each table
    }
  }

  test("a LAST JOIN of which no right column is used is dropped") {
    assert(operators(sql(s"SELECT f.id, f.ts $asOf WHERE f.id > 3")).forall(!_.contains("LastJoin")))
    assert(sql(s"SELECT count(*) $asOf").head().getLong(0) == 30)
  }

  // pushing down

  test("columns that nobody needs are not read") {
    val scans = collect(plan(sql(s"SELECT f.id, w.v $asOf"))) { case scan: FileSourceScanExec =>
      scan.output.map(_.name).toSet
    }
    assert(scans.toSet == Set(Set("id", "k", "ts"), Set("k", "ts", "v")))
  }

  /** Column names of each filter below the left and the right side. */
  private def filters(join: LastJoin): (Seq[String], Seq[String]) = {
    def below(side: LogicalPlan) = side.collect { case Filter(condition, _) =>
      condition.references.map(_.name)
    }.flatten.distinct
    (below(join.left), below(join.right))
  }

  test("filters above: on left columns below the join, on right columns where they are") {
    val plan = optimized(s"SELECT f.id, w.v $asOf WHERE f.id > 10 AND w.v > 5 AND f.ts + w.ts > 0 AND rand() >= 0")
    // Spark infers that f.k, f.ts, w.k and w.ts are not NULL
    assert(filters(lastJoin(plan)) == (Seq("id", "ts", "k"), Seq("k", "ts")))
    assert(plan.collectFirst { case Filter(condition, _: LastJoin) => condition.references.map(_.name).toSet }
      .contains(Set("v", "ts")))
  }

  test("predicates of ON: on right columns below the join, on left columns where they are") {
    val join = lastJoin(optimized(s"SELECT f.id, w.v ${from("w.ts", "f.k = w.k AND w.v > 5 AND f.id > 3")}"))
    assert(filters(join) == (Nil, Seq("v", "k"))) // w.k is not NULL
    assert(join.condition.get.references.map(_.name).toSet == Set("k", "id"))
  }

  for (threshold <- Seq("10MB", "-1"))
    test(s"a filter above never changes which row is last, broadcast threshold $threshold", OnDefaultLine) {
      withConf("spark.sql.autoBroadcastJoinThreshold" -> threshold) {
        val operator = if (threshold == "-1") "ShuffledHashLastJoin" else "BroadcastLastJoin"
        for (filter <- Seq(
            "w.v % 2 = 0",
            "w.v IS NOT NULL",
            "w.v IS NULL",
            "w.v IN (1, 2, 3)",
            "w.k = f.k",
            "w.ts > 10 AND f.id > 3",
            "coalesce(w.v, 0) = 0",
            "w.v > (SELECT avg(v) FROM weather) - 15",
            "EXISTS (SELECT 1 FROM planes p WHERE p.k = w.v)"
          )) {
          checkLastJoin(
            s"SELECT f.id, w.v $asOf WHERE $filter",
            s"SELECT f.id, w.v $asOfOracle WHERE $filter",
            operator)
        }
        checkLastJoin(
          s"SELECT f.id, w.v, p.name $asOf JOIN planes p ON p.k = w.v",
          s"SELECT f.id, w.v, p.name $asOfOracle JOIN planes p ON p.k = w.v",
          operator)
      }
    }

  test("a predicate of ON on left columns does not remove left rows", SinceSpark40) {
    checkLastJoin(
      s"SELECT f.id, w.v ${from("w.ts", "f.k = w.k AND f.id > 20")}",
      s"SELECT f.id, w.v ${oracle("f.k = k AND f.id > 20")}",
      "BroadcastLastJoin")
  }

  test("an empty right side, known while planning") {
    for (on <- Seq("f.k = w.k AND false", "f.k = w.k AND w.v > 1 AND w.v < 1", "NULL = 1")) {
      val rows = sql(s"SELECT f.id, w.v ${from("w.ts", on)}").collect()
      assert(rows.length == 30 && rows.forall(_.isNullAt(1)), on)
    }
  }

  test("a column of the right side that is the same in each row is still NULL where nothing matches", SinceSpark40) {
    checkLastJoin(
      "SELECT f.id, w.c FROM flights f LAST JOIN (SELECT k, ts, 'x' AS c FROM weather) w ORDER BY w.ts ON f.k = w.k AND w.ts < f.ts - 20",
      "SELECT id, w.c FROM flights f LEFT JOIN LATERAL (SELECT 'x' AS c FROM weather WHERE f.k = k AND ts < f.ts - 20 LIMIT 1) w",
      "BroadcastLastJoin"
    )
  }

  // statistics, reuse

  test("statistics: the left side's rows, both sides' widths") {
    withConf("spark.sql.cbo.enabled" -> "true") {
      sql("ANALYZE TABLE flights COMPUTE STATISTICS")
      val join = lastJoin(optimized("SELECT * FROM flights f LAST JOIN weather w ORDER BY w.ts ON f.k = w.k"))
      assert(join.stats.rowCount.contains(BigInt(30)))
      assert(
        join.stats.sizeInBytes > join.left.stats.sizeInBytes && join.stats.sizeInBytes < join.left.stats.sizeInBytes * 4)
      assert(join.maxRows == join.left.maxRows)
    }
  }

  test("the same right side twice is broadcast once") {
    val query =
      sql("""SELECT f.id, a.v, b.v FROM flights f LAST JOIN weather a ORDER BY a.ts ON f.k = a.k AND a.ts <= f.ts
                      |LAST JOIN weather b ORDER BY b.ts ON f.k + 0 = b.k AND b.ts <= f.ts""".stripMargin)
    val operators = plan(query)
    assert(collect(operators) { case exchange: BroadcastExchangeExec => exchange }.size == 1, operators)
    assert(collect(operators) { case exchange: ReusedExchangeExec => exchange }.size == 1, operators)
    assert(query.collect().forall(row => row.get(1) == row.get(2)))
  }

  test("another order or key is another broadcast") {
    val query = sql("""SELECT f.id, a.v, b.v, c.k FROM flights f LAST JOIN weather a ORDER BY a.ts ON f.k = a.k
                      |LAST JOIN weather b ORDER BY b.ts DESC ON f.k = b.k LAST JOIN weather c ORDER BY c.ts ON f.k = c.v""".stripMargin)
    assert(collect(plan(query)) { case exchange: BroadcastExchangeExec => exchange }.size == 3)
  }

  // caching

  test("a cached LAST JOIN, and LAST JOINs of cached tables") {
    val joined = sql(s"SELECT f.id, w.v $asOf")
    val answer = Answers.rows(joined)
    val weather = spark.table("weather").cache()
    try {
      assert(readsCache(sql(s"SELECT f.id, w.v $asOf")))
      assert(Answers.rows(sql(s"SELECT f.id, w.v $asOf")) == answer)
      assert(Answers.rows(sql(s"SELECT /*+ MERGE(w) */ f.id, w.v $asOf")) == answer)
    } finally weather.unpersist(blocking = true)
    val cached = joined.persist()
    try {
      val again = sql(s"SELECT f.id, w.v $asOf") // the same query, in another plan
      assert(Answers.rows(again) == answer)
      assert(readsCache(again) && !operators(again).contains("BroadcastLastJoin"))
      assert(
        operators(sql(s"SELECT f.id, w.v ${asOf.replace("w.ts ON", "w.ts DESC ON")}")).contains("BroadcastLastJoin"))
    } finally cached.unpersist(blocking = true)
  }

  private def readsCache(query: DataFrame): Boolean =
    find(plan(query))(_.isInstanceOf[InMemoryTableScanExec]).isDefined

  // EXPLAIN

  for ((hint, operator) <- LastJoinForms) {
    test(s"EXPLAIN FORMATTED of $operator shows keys, order and condition") {
      val all = from("w.ts", "f.k = w.k AND w.ts <= f.ts AND w.ts >= f.ts - 5 AND w.v > f.k")
      val shown = sql(s"EXPLAIN FORMATTED SELECT /*+ $hint(w) */ f.id, w.v $all").head().getString(0)
      val details = shown.linesIterator.dropWhile(!_.matches(s"\\(\\d+\\) $operator.*")).take(7).toVector
      for ((label, content) <- Seq(
          "Left keys" -> "k",
          "Right keys" -> "k",
          "Order" -> "ts ASC NULLS FIRST",
          "As of" -> "ts <= ",
          "Within" -> "ts >= ",
          "Residual condition" -> "v > ")) {
        assert(details.exists(line => line.startsWith(s"$label: ") && line.contains(content)), shown)
      }
    }

    test(s"EXPLAIN of $operator in one line") {
      val shown = sql(s"EXPLAIN SELECT /*+ $hint(w) */ f.id, w.v $asOf").head().getString(0)
      assert(shown.contains(operator) && """ts#\d+ ASC NULLS FIRST""".r.findFirstIn(shown).isDefined, shown)
    }
  }
}
