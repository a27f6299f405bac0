package io.github.sparkjoinery.rangejoin

import org.apache.spark.sql.execution.exchange.{BroadcastExchangeExec, ReusedExchangeExec}
import org.apache.spark.sql.execution.joins.BroadcastHashJoinExec
import org.apache.spark.sql.execution.{FormattedMode, WholeStageCodegenExec}

import io.github.sparkjoinery.planning.explain.Decision
import io.github.sparkjoinery.rangejoin.exec.{BroadcastRangeJoinExec, PreservedSidePasses, ShuffledRangeJoinExec}
import io.github.sparkjoinery.{Answers, OnDefaultLine, Pairwise, SinceSpark40}

/** Detection of range joins, the indexed side, joins left to Spark and why, and the operator's place in a plan. */
class RangeJoinPlanSuite extends EventsAndSpans {

  for ((what, condition) <- Seq(
      "BETWEEN" -> "e.x BETWEEN s.lo AND s.hi",
      "turned around" -> "s.lo <= e.x AND s.hi >= e.x",
      "a range among other conditions" -> "e.id <> s.id AND e.x >= s.lo AND (e.x < s.hi OR false) AND s.name LIKE 'v%'",
      "arithmetic on either side" -> "e.x + 1 >= s.lo * 2 AND e.x < s.hi + 5",
      "interval arithmetic" -> "e.ts BETWEEN s.ts - INTERVAL 5 MINUTES AND s.ts + INTERVAL 5 MINUTES",
      "an interval made of its start" -> "s.ts <= e.ts AND e.ts < s.ts + INTERVAL 1 HOUR",
      "types that are cast" -> "e.d >= s.ts AND e.d < s.te",
      "a point of the other side" -> "s.lo BETWEEN e.x AND e.x + 2",
      "overlap" -> "e.ts < s.te AND s.ts < e.ts + INTERVAL 10 MINUTES",
      "one inequality" -> "e.x < s.lo",
      "several ranges" -> "e.x BETWEEN s.lo AND s.hi AND e.ts BETWEEN s.ts AND s.te",
      "beside an equality" -> "e.k = s.k AND e.x BETWEEN s.lo AND s.hi",
      "a difference" -> "e.x - s.lo BETWEEN -2 AND 3",
      "a difference in other words" -> "3 > s.lo - e.x AND -2 <= s.lo - e.x",
      "a difference with one end" -> "e.x - s.lo < -20",
      "a distance" -> "abs(e.x - s.lo) < 4",
      "a distance, limited on the left" -> "4.5D >= abs(CAST(e.x AS DOUBLE) - s.lo)",
      "a distance of floats" -> "abs(CAST(e.x AS FLOAT) / 3 - s.lo / 3.0F) <= 1.2F",
      "a distance of decimals" -> "abs(CAST(e.x AS DECIMAL(7, 2)) - CAST(s.lo AS DECIMAL(9, 2))) < 2.25",
      "a time between two timestamps" -> "e.ts - s.ts BETWEEN INTERVAL 0 SECONDS AND INTERVAL 10 MINUTES",
      "days between" -> "datediff(e.d, s.ts) BETWEEN -1 AND 1 AND e.d - CAST(s.ts AS DATE) <= INTERVAL '1' DAY",
      "seconds between" -> "abs(unix_timestamp(e.ts) - unix_timestamp(s.ts)) <= 120",
      "a difference beside an equality" -> "e.k = s.k AND abs(e.x - s.lo) <= 5",
      "strings" -> "concat('v', e.x) BETWEEN s.name AND concat(s.name, '9')",
      "strings that begin alike" -> "concat('a long beginning ', e.x) > concat('a long beginning ', s.lo)",
      "bytes" -> "CAST(concat('v', e.x) AS BINARY) BETWEEN CAST(s.name AS BINARY) AND CAST(concat(s.name, '9') AS BINARY)",
      "long decimals" -> "CAST(e.x AS DECIMAL(38, 10)) / 7 BETWEEN CAST(s.lo AS DECIMAL(38, 10)) / 7 AND CAST(s.hi AS DECIMAL(38, 10)) / 7",
      "two differences" -> "e.x - s.lo < 5 AND e.id - s.lo > -2 AND abs(e.id - e.x) < 400",
      "with literals" -> "e.x BETWEEN s.lo AND s.hi AND e.x > 10 AND s.hi < 80"
    )) {
    test(s"$what is a range join") {
      assert(checkRangeJoin(s"SELECT e.id, s.id AS sid FROM events e JOIN spans s ON $condition") > 0)
      withConf(Generated: _*)(checkRangeJoin(s"SELECT * FROM events e LEFT JOIN spans s ON $condition"))
    }
  }

  test("a condition in WHERE") {
    checkRangeJoin("SELECT e.id, s.name FROM events e, spans s WHERE e.x >= s.lo AND e.x <= s.hi")
    checkRangeJoin("SELECT e.id, s.name FROM events e CROSS JOIN spans s WHERE e.x >= s.lo AND e.x <= s.hi")
  }

  test("EXISTS and NOT EXISTS, IN beside a range") {
    checkRangeJoin("SELECT id FROM events e WHERE EXISTS (SELECT 1 FROM spans s WHERE e.x BETWEEN s.lo AND s.hi)")
    checkRangeJoin("SELECT id FROM events e WHERE NOT EXISTS (SELECT 1 FROM spans s WHERE e.x BETWEEN s.lo AND s.hi)")
    checkRangeJoin(
      "SELECT id FROM events e WHERE e.id = 3 OR EXISTS (SELECT 1 FROM spans s WHERE e.x BETWEEN s.lo AND s.hi)")
    checkRangeJoin("SELECT id FROM events e WHERE k IN (SELECT k FROM spans s WHERE e.x BETWEEN s.lo AND s.hi)")
  }

  test("the smaller side is indexed, and a BROADCAST hint says which otherwise") {
    def indexed(hint: String, join: String = "JOIN"): String =
      planned(sql(s"SELECT $hint * FROM events e $join spans s ON e.x BETWEEN s.lo AND s.hi"))
        .collectFirst { case join: BroadcastRangeJoinExec => join.indexedSide.toString }.get
    assert(indexed("") == "BuildRight")
    assert(indexed("/*+ BROADCAST(e) */") == "BuildLeft")
    assert(indexed("/*+ BROADCAST(s) */", "FULL JOIN") == "BuildRight")
  }

  test("LIMIT above it stays when adaptive execution plans again: what is broadcast has few rows, the join has not") {
    withConf("spark.sql.adaptive.enabled" -> "true") {
      for (one <- Pairwise.cases(
          "join" -> Seq("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"),
          "indexed" -> Seq("spans", "(SELECT * FROM spans WHERE id < 2)"),
          "limit" -> Seq("LIMIT 45", "ORDER BY e.id LIMIT 45"),
          "hint" -> Seq("", "/*+ REPARTITION(3) */")
        )) {
        val joined = s"SELECT e.id FROM events e ${one("join")} ${one("indexed")} s ON e.x BETWEEN s.lo AND s.hi"
        val text = s"SELECT ${one("hint")} * FROM ($joined ${one("limit")})"
        val expected = onStockJoins(sql(text).collect().length)
        val query = sql(text)
        assert(query.collect().length == expected, s"$text\n${plan(query)}")
        assert(operators(query).contains(Broadcast), plan(query))
      }
    }
  }

  test("of two ranges that are alike, the one that is written first is indexed") {
    val (ofNumbers, ofTimes) = ("e.x BETWEEN s.lo AND s.hi", "e.ts BETWEEN s.ts AND s.te")
    for ((first, second, bounds) <- Seq(
        (ofNumbers, ofTimes, "[s.lo <= e.x, s.hi >= e.x]"),
        (ofTimes, ofNumbers, "[s.ts <= e.ts, s.te >= e.ts]"))) {
      val query = sql(s"SELECT e.id, s.name FROM events e JOIN spans s ON $first AND $second")
      val explained = query.queryExecution.explainString(FormattedMode)
      assert(explained.contains(s"Bounds: $bounds"), explained)
    }
  }

  test("a floating-point difference with one limit is no bound beside another condition", OnDefaultLine) {
    val doubles = "VALUES (double('NaN')), (double('Infinity')), (double('-Infinity')), (0D), (3D), (7D), (9D)"
    for {
      conf <- Seq(Generated, Interpreted)
      hint <- Seq("BROADCAST(a)", "BROADCAST(b)")
      condition <- Seq(
        "a.x - b.x >= -5 AND b.x >= a.y",
        "a.x - b.x <= 5 AND b.x <= a.y",
        "b.x - a.x <= 5 AND b.x - a.y >= -5",
        "b.x - a.x <= 5 AND b.x - a.x >= -5 AND b.x >= a.y",
        "abs(a.x - b.x) <= 5"
      )
    } withConf(conf: _*) {
      val text =
        s"SELECT /*+ $hint */ * FROM (SELECT l.x, r.x AS y FROM ($doubles) l(x), ($doubles) r(x)) a JOIN ($doubles) b(x) ON $condition"
      assert(Answers.rows(sql(text)) == asOracle(Answers.rows(sql(text))), text)
    }
  }

  test("local times whose clocks are set, and rounding") {
    withConf("spark.sql.session.timeZone" -> "America/New_York") {
      val times = "SELECT id, timestamp_seconds(1699163000 + id * 600) AS ts, id / 10D AS x FROM range(0, 50)"
      for (conf <- Seq(Generated, Interpreted)) withConf(conf: _*) {
        assert(checkRangeJoin(
          s"SELECT a.id, b.id AS bid FROM ($times) a JOIN ($times) b ON a.ts - b.ts BETWEEN INTERVAL 0 SECONDS AND INTERVAL 20 MINUTES") > 50)
        assert(
          checkRangeJoin(s"SELECT a.id, b.id AS bid FROM ($times) a JOIN ($times) b ON abs(a.x - b.x) <= 0.1D") > 50)
      }
    }
  }

  test("where Kryo has to know each class beforehand, no index is broadcast") {
    withKryoRegistration {
      for (hint <- Seq("", "/*+ BROADCAST(s) */", "/*+ RANGE_JOIN(s) */")) {
        val (range, reason) = ("e.x BETWEEN s.lo AND s.hi", "spark.kryo.registrationRequired forbids to broadcast")
        checkLeftToSpark(s"SELECT $hint e.id, s.name FROM events e JOIN spans s ON $range", reason)
        checkRangeJoin(s"SELECT $hint e.id, s.name FROM events e JOIN spans s ON e.k = s.k AND $range", Shuffled)
        checkDecision(s"SELECT $hint e.id, s.name FROM events e JOIN spans s ON e.k = s.k AND $range", reason)
      }
    }
  }

  test("what is left to Spark, and why", SinceSpark40) {
    val range = "e.x BETWEEN s.lo AND s.hi"
    checkLeftToSpark("SELECT * FROM events e JOIN spans s ON e.k = s.k AND e.x > s.lo", "open at one end")
    val sums = "(SELECT k, sum(x) AS lo, sum(x) + 5 AS hi FROM events GROUP BY k)"
    for (broadcast <- Seq("-1", "10MB")) withConf("spark.sql.autoBroadcastJoinThreshold" -> broadcast) {
      checkLeftToSpark(
        s"SELECT * FROM events e JOIN $sums s ON e.k = s.k AND e.x BETWEEN s.lo AND s.hi",
        "each key once")
      checkLeftToSpark(
        s"SELECT * FROM $sums s JOIN events e ON e.k = s.k AND e.x BETWEEN s.lo AND s.hi",
        "each key once")
    }
    withConf("spark.joinery.rangeJoin.maxBroadcast" -> "100")(
      checkLeftToSpark("SELECT * FROM events e JOIN spans s ON e.x < s.lo", "too large to index on the driver"))
    checkLeftToSpark(
      s"SELECT /*+ SHUFFLE_REPLICATE_NL(s) */ * FROM events e JOIN spans s ON $range",
      "hint shuffle_replicate_nl")
    checkLeftToSpark(
      "SELECT * FROM events e JOIN spans s ON concat('v', e.x) COLLATE UTF8_LCASE < s.name COLLATE UTF8_LCASE",
      "no index for STRING COLLATE UTF8_LCASE")
    checkLeftToSpark(
      "SELECT /*+ RANGE_JOIN(s) */ * FROM events e JOIN spans s ON e.k = s.k",
      "compares no term of one side with one of the other")
    for (hint <- Seq("", "/*+ RANGE_JOIN(s) */")) checkLeftToSpark(
      s"SELECT $hint * FROM events e JOIN spans s ON CAST(e.x AS DOUBLE) - s.lo >= 100",
      "a floating-point difference with one limit only")
    checkDecision("SELECT * FROM events e JOIN spans s ON e.k = s.k", "an ordinary join")
  }

  test("the hint insists, with a size of bins or without, and a wrong one says what it takes") {
    withConf("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
      for (hint <-
          Seq("RANGE_JOIN(s)", "range_join(s, 10)", "RANGE_JOIN(e, s)", "RANGE_JOIN(s, 2.5)", "RANGE_JOIN('s')"))
        checkRangeJoin(
          s"SELECT /*+ $hint */ e.id, s.id AS sid FROM events e JOIN spans s ON e.k = s.k AND e.x > s.lo",
          Shuffled)
    }
    for (hint <- Seq("RANGE_JOIN(10, s)", "RANGE_JOIN(s, true)"))
      checkHintError(s"SELECT /*+ $hint */ * FROM events e JOIN spans s ON e.x > s.lo")
    assert(checkRangeJoin(
      "SELECT /*+ RANGE_JOIN(nowhere) */ e.id, s.id AS sid FROM events e JOIN spans s ON e.x < s.lo") > 0)
  }

  test("the hint of DataFrames, with a size of bins or without") {
    val (events, spans) = (sql("SELECT id, k, x FROM events"), sql("SELECT id AS sid, k AS sk, lo FROM spans"))
    for (hinted <- Seq(spans.hint("range_join"), spans.hint("RANGE_JOIN", 10))) {
      val joined = events.join(hinted, events("k") === hinted("sk") && events("x") > hinted("lo"))
      assert(planned(joined).exists(_.nodeName == Broadcast), planned(joined))
    }
  }

  test("a subquery among the conditions, and a term with one") {
    for (conf <- Seq(Generated, Interpreted)) withConf(conf: _*) {
      assert(checkRangeJoin(
        "SELECT e.id, s.id AS sid FROM events e JOIN spans s ON e.x BETWEEN s.lo AND s.hi AND e.id + s.id < (SELECT max(id) FROM spans)") > 0)
      checkRangeJoin(
        "SELECT e.id, s.id AS sid FROM events e LEFT JOIN spans s ON e.x < s.lo AND e.x + (SELECT min(id) FROM spans) > s.hi - 9")
    }
  }

  test("several range joins in one stage, and in a union") {
    for (conf <- Seq(Generated, Interpreted)) withConf(conf: _*) {
      checkRangeJoin(
        """SELECT e.id, s.id AS sid, t.name FROM events e JOIN spans s ON e.x BETWEEN s.lo AND s.hi
          |LEFT JOIN spans t ON e.ts >= t.ts AND e.ts < t.te WHERE EXISTS (SELECT 1 FROM spans u WHERE u.lo > e.x)""".stripMargin)
      checkRangeJoin(
        """SELECT e.id, s.id AS sid FROM events e JOIN spans s ON e.x BETWEEN s.lo AND s.hi
          |UNION ALL SELECT e.id, s.id FROM events e FULL JOIN spans s ON e.x > s.lo AND e.x < s.hi""".stripMargin)
    }
  }

  private def checkHintError(statement: String): Unit = {
    val error = intercept[Exception](sql(statement).collect())
    assert(error.getMessage.contains("[JOINERY_RANGE_JOIN.INVALID_HINT]"), statement)
    assert(error.getMessage.contains("names or aliases of relations"), statement)
  }

  test("a second query over the same side reuses its index") {
    val query = sql(
      """SELECT e.id, s.id AS sid FROM events e JOIN spans s ON e.x BETWEEN s.lo AND s.hi
        |UNION ALL SELECT e.id, s.id FROM (SELECT id + 1 AS id, x * 2 AS x FROM events) e LEFT JOIN spans s ON e.x > s.lo AND e.x < s.hi""".stripMargin)
    query.collect()
    assert(collect(plan(query)) { case exchange: BroadcastExchangeExec => exchange }.size == 1, plan(query))
    assert(collect(plan(query)) { case exchange: ReusedExchangeExec => exchange }.size == 1, plan(query))
  }

  test("metrics say what the index and the search took") {
    for (conf <- Seq(Generated, Interpreted)) withConf(conf: _*) {
      val query =
        sql("SELECT e.id, s.name FROM events e JOIN spans s ON e.x BETWEEN s.lo AND s.hi AND (e.id + s.id) % 2 = 0")
      val rows = query.collect().length
      val metrics = collectFirst(plan(query)) { case join: BroadcastRangeJoinExec => join }.get.metrics.map {
        case (name, m) => name -> m.value
      }
      assert(metrics("indexRows") == 40 && metrics("indexSize") > 40 * 40)
      assert(metrics("probes") == 500 && metrics("numOutputRows") == rows)
      assert(metrics("candidates") > rows && metrics("candidates") < 500 * 40 / 4)
    }
  }

  test(
    "where indexed rows are kept, each pass over the other side is generated code, and its probes are counted once") {
    for (join <- Seq("LEFT JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "FULL JOIN"); conf <- Seq(Generated, Interpreted))
      withConf(conf: _*) {
        val query = sql(s"SELECT /*+ BROADCAST(s) */ s.id FROM spans s $join events e ON e.x BETWEEN s.lo AND s.hi")
        query.collect()
        val operator = collectFirst(plan(query)) { case join: BroadcastRangeJoinExec => join }.get
        assert(operator.metrics("probes").value == 500, s"$join $conf")
        def areGenerated: Boolean =
          Seq(new PreservedSidePasses(operator)).flatMap(all => Seq(all.pairs, all.matchedPlaces))
            .forall(_.isInstanceOf[WholeStageCodegenExec])
        assert(areGenerated == (conf == Generated))
        withConf("spark.sql.codegen.maxFields" -> "1")(assert(!areGenerated))
      }
  }

  test("where indexed rows are kept, and the code that is generated proves too long to be used", OnDefaultLine) {
    for (join <- Seq("LEFT JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "FULL JOIN"))
      withConf(Generated :+ ("spark.sql.codegen.hugeMethodLimit" -> "1"): _*) {
        val rows =
          checkRangeJoin(s"SELECT /*+ BROADCAST(s) */ s.id FROM spans s $join events e ON e.x BETWEEN s.lo AND s.hi")
        assert(rows > 0, join)
      }
  }

  test("an expression that Spark generates no code for is evaluated on rows, whichever rows are kept", OnDefaultLine) {
    val (inCondition, inBound, inKey) = (
      "e.x BETWEEN s.lo AND s.hi AND size(map_filter(map(e.id, s.id), (a, b) -> (a + b) % 3 = 0)) > 0",
      "zip_with(array(e.x), array(0), (a, b) -> a + b)[0] BETWEEN s.lo AND s.hi",
      "zip_with(array(e.k), array(0), (a, b) -> a + b)[0] = s.k AND e.x BETWEEN s.lo AND s.hi"
    )
    for {
      (condition, operator) <-
        Seq(inCondition -> Broadcast, inBound -> Broadcast, inKey -> Broadcast, inKey -> Shuffled)
      join <- Seq("JOIN", "LEFT JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "FULL JOIN")
    } {
      val threshold = "spark.sql.autoBroadcastJoinThreshold" -> (if (operator == Shuffled) "-1" else "10MB")
      val hint = if (operator == Shuffled) "" else "/*+ BROADCAST(s) */"
      withConf(Generated :+ threshold: _*) {
        val rows = checkRangeJoin(s"SELECT $hint s.id FROM spans s $join events e ON $condition", operator)
        assert(rows > 0, s"$join $condition")
      }
    }
  }

  test("it stands in the generated code of its stage, and EXPLAIN shows its terms") {
    val query =
      sql("SELECT e.id + 1 AS i, s.name FROM events e JOIN spans s ON e.x BETWEEN s.lo AND s.hi WHERE e.id % 2 = 0")
    query.collect()
    val stages = collect(plan(query)) { case stage: WholeStageCodegenExec => stage }
    assert(stages.exists(_.child.exists(_.isInstanceOf[BroadcastRangeJoinExec])), plan(query))
    val explained = query.queryExecution.explainString(FormattedMode)
    for (line <-
        Seq("Indexed side: right, intervals", "Bounds: [s.lo <= e.x, s.hi >= e.x]", "Residual condition: None"))
      assert(explained.contains(line), explained)
  }

  test("a shuffled join becomes a range join when a side turns out small") {
    sql("CREATE TABLE facts_of_ranges USING parquet AS SELECT id, int(id % 50) AS k, int(id) AS x FROM range(0, 20000, 1, 2)")
    withTables("facts_of_ranges")(withConf(
      "spark.sql.adaptive.enabled" -> "true",
      "spark.sql.autoBroadcastJoinThreshold" -> "-1",
      "spark.sql.adaptive.autoBroadcastJoinThreshold" -> "40KB") {
      val text =
        """SELECT f.id, s.j FROM facts_of_ranges f
          |JOIN (SELECT k, k * 300L AS j, max(x) AS m FROM facts_of_ranges WHERE x % 100 < 50 GROUP BY k, k * 300L) s
          |ON f.k = s.k AND f.x BETWEEN s.k AND s.j""".stripMargin
      val query = sql(text)
      val rows = query.collect().length
      assert(rows == onStockJoins(sql(text).collect().length) && rows > 0)
      assert(operators(query).contains(Broadcast), plan(query))
      assert(collect(plan(query)) { case join: BroadcastHashJoinExec => join }.isEmpty)
    })
  }

  test("beside a side that Spark has broadcast nothing is indexed, and adaptive execution goes on to plan again") {
    sql(
      "CREATE TABLE large_facts USING parquet AS SELECT id, int(id % 50) AS k, int(id) AS x FROM range(0, 20000, 1, 2)")
    withTables("large_facts")(withConf(
      "spark.sql.adaptive.enabled" -> "true",
      "spark.sql.autoBroadcastJoinThreshold" -> "-1",
      "spark.sql.adaptive.autoBroadcastJoinThreshold" -> "40KB",
      "spark.joinery.rangeJoin.maxBroadcast" -> "80KB"
    ) {
      val query = sql("""SELECT a.k, b.id, c.n FROM (SELECT k, max(x) AS x FROM large_facts GROUP BY k) a
          |LEFT JOIN (SELECT id, x FROM large_facts) b ON a.x < b.x
          |JOIN (SELECT k, count(*) AS n FROM large_facts WHERE x % 10 = 7 GROUP BY k) c ON a.k = c.k""".stripMargin)
      assert(query.collect().nonEmpty)
      assert(operators(query).contains("BroadcastNestedLoopJoin"), plan(query)) // by when there is a small side
      assert(collect(plan(query)) { case join: BroadcastHashJoinExec => join }.nonEmpty, plan(query))
    })
  }

  test("why a join is Spark's is said as before when Spark has broadcast a side, and plans again") {
    sql("CREATE TABLE large_facts USING parquet AS SELECT int(id % 50) AS k, int(id) AS x FROM range(0, 20000, 1, 2)")
    withTables("large_facts")(withConf(
      "spark.sql.adaptive.enabled" -> "true",
      "spark.sql.autoBroadcastJoinThreshold" -> "-1",
      "spark.sql.adaptive.autoBroadcastJoinThreshold" -> "40KB"
    ) {
      val query = sql("""SELECT /*+ BROADCAST(s) */ e.k, s.lo, c.n
          |FROM large_facts e JOIN (SELECT k, count(*) AS n FROM large_facts WHERE x < 500 GROUP BY k) c ON e.k = c.k
          |JOIN spans s ON e.k = s.k AND e.x > s.lo""".stripMargin)
      assert(query.collect().nonEmpty)
      val joins = collect(plan(query)) { case join: BroadcastHashJoinExec => join }
      assert(joins.length == 2, plan(query))
      assert(joins.flatMap(Decision.textOf(_)).exists(_.contains("open at one end")), joins.map(Decision.textOf(_)))
    })
  }

  test("a shuffled form stays one where most partitions are empty") {
    withConf(
      "spark.sql.adaptive.enabled" -> "true",
      "spark.sql.autoBroadcastJoinThreshold" -> "-1",
      "spark.sql.shuffle.partitions" -> "8") { // adaptive execution adds hints then, against a broadcast and for hashing
      for (least <- Seq("0", "1GB")) withConf("spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold" -> least) {
        val query =
          sql("SELECT e.id, s.id AS sid FROM events e JOIN spans s ON e.k * 0 = s.k * 0 AND e.x BETWEEN s.lo AND s.hi")
        assert(query.collect().nonEmpty)
        assert(operators(query).contains(Shuffled), plan(query))
      }
    }
    for (hint <- Seq("MERGE", "SHUFFLE_HASH")) checkLeftToSpark(
      s"SELECT /*+ $hint(s) */ * FROM events e JOIN spans s ON e.k = s.k AND e.x BETWEEN s.lo AND s.hi",
      s"hint ${if (hint == "MERGE") "merge" else "shuffle_hash"}"
    )
  }

  test("the switch gives Spark's plans") {
    onStockJoins(
      assert(!operators(sql("SELECT * FROM events e JOIN spans s ON e.x BETWEEN s.lo AND s.hi")).contains(Broadcast)))
  }

  test("a task without memory indexes part by part, and gives the same rows", OnDefaultLine) {
    val conf = Seq(
      "spark.sql.autoBroadcastJoinThreshold" -> "-1",
      "spark.sql.shuffle.partitions" -> "1",
      "spark.joinery.rangeJoin.maxIndexPart" -> "1")
    for (join <- Seq("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"))
      withConf(conf: _*) {
        val text = s"""SELECT * FROM (SELECT id, x, k FROM events UNION ALL SELECT id + 1000, x, k FROM events) e $join
                    |(SELECT id AS sid, x AS lo, x + 3 AS hi, k AS sk FROM events) s ON e.k = s.sk AND e.x BETWEEN s.lo AND s.hi""".stripMargin
        checkRangeJoin(text, Shuffled)
        val query = sql(text)
        query.collect()
        val metrics = collectFirst(plan(query)) { case join: ShuffledRangeJoinExec => join }.get.metrics
        assert(metrics("indexParts").value > 3 && Set(500L, 1000L).contains(metrics("indexRows").value))
      }
  }
}
