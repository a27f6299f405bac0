package io.github.sparkjoinery.filters.stored

import org.apache.spark.sql.execution.{FileSourceScanExec, FilterExec}

import io.github.sparkjoinery.Answers

/** Joins of tables whose bloom filters are in the store. */
class ApplyBloomFiltersSuite extends StoredFilters {

  private val Tables = Seq("planes", "flights", "numbers")

  override protected def beforeAll(): Unit = {
    Tables.foreach(table => sql(s"DROP TABLE IF EXISTS $table"))
    sql("""CREATE TABLE planes USING parquet AS SELECT if(id % 10 = 9, NULL, concat('N', id)) AS tailnum,
      if(id % 4 = 0, 'CESSNA', 'BOEING') AS manufacturer, int(id % 7) AS seats FROM range(100)""")
    sql("""CREATE TABLE flights USING parquet AS SELECT id, if(id % 97 = 0, NULL, concat('N', id % 1000)) AS tailnum,
      int(id % 300) AS n FROM range(3000)""")
    sql("""CREATE TABLE numbers USING parquet AS SELECT int(id) AS i, bigint(id) AS l, float(id) AS f, double(id) AS d,
      decimal(id) AS dec, date'2013-01-01' + int(id) AS day, id % 2 = 0 AS odd FROM range(50)""")
    buildTableFilter("planes", Seq("tailnum"))()
    buildTableFilter("planes", Seq("tailnum"), Some("manufacturer = 'CESSNA'"))()
    buildTableFilter("numbers", Seq("i"))()
    buildTableFilter("numbers", Seq("l", "day"))()
    buildTableFilter("numbers", Seq("d"))()
  }

  override protected def afterAll(): Unit = {
    Tables.foreach(table => sql(s"DROP TABLE IF EXISTS $table"))
    super.afterAll()
  }

  private def planes(join: String, columns: String = "f.id, f.tailnum, p.seats"): String =
    s"SELECT $columns FROM flights f $join planes p ON f.tailnum = p.tailnum"

  // by join type

  for ((join, columns, filters) <- Seq(
      ("flights x JOIN planes y", "x.id, y.seats", 1),
      ("planes x JOIN flights y", "y.id, x.seats", 1),
      ("flights x LEFT SEMI JOIN planes y", "x.id", 1),
      ("planes x LEFT SEMI JOIN flights y", "x.tailnum", 1),
      ("flights x LEFT JOIN planes y", "x.id, y.seats", 0),
      ("planes x LEFT JOIN flights y", "x.tailnum, y.id", 1),
      ("flights x RIGHT JOIN planes y", "x.id, y.seats", 1),
      ("planes x RIGHT JOIN flights y", "x.tailnum, y.id", 0),
      ("flights x FULL JOIN planes y", "x.id, y.seats", 0),
      ("planes x FULL JOIN flights y", "y.id, x.seats", 0),
      ("flights x LEFT ANTI JOIN planes y", "x.id", 0),
      ("planes x LEFT ANTI JOIN flights y", "x.tailnum", 0),
      ("planes x JOIN planes y", "x.seats, y.manufacturer", 2)
    );
    adaptive <- Seq("true", "false")) {
    test(s"$join; adaptive execution $adaptive") {
      checkFilters(
        s"SELECT $columns FROM $join ON x.tailnum = y.tailnum",
        filters,
        "spark.sql.adaptive.enabled" -> adaptive)
    }
  }

  test("interpreted, and by generated code only") {
    checkFilters(
      planes("JOIN"),
      1,
      "spark.sql.codegen.wholeStage" -> "false",
      "spark.sql.codegen.factoryMode" -> "NO_CODEGEN")
    checkFilters(planes("JOIN"), 1, "spark.sql.codegen.factoryMode" -> "CODEGEN_ONLY")
    checkFilters(
      "SELECT f.id FROM flights f JOIN numbers n ON f.n = n.l AND date'2013-01-01' + int(f.id) = n.day",
      1,
      "spark.sql.codegen.factoryMode" -> "CODEGEN_ONLY")
  }

  test("it drops rows before they are shuffled") {
    withStore() {
      val answer = sql(planes("JOIN"))
      assert(answer.collect().length == 266)
      val passed =
        collect(plan(answer)) { case filter: FilterExec if filter.condition.toString.contains("joinery") => filter }
      assert(passed.map(_.metrics("numOutputRows").value).sum < 400, plan(answer)) // of 3000
      checkDecision(planes("JOIN"), "rows are dropped by the bloom filter of spark_catalog.default.planes (tailnum)")
    }
  }

  test("names of columns in another case") {
    checkFilters("SELECT F.ID, P.SEATS FROM flights F JOIN planes P ON F.TAILNUM = P.TailNum", 1)
    checkFilters(
      "SELECT F.ID FROM flights F JOIN planes P ON F.TAILNUM = P.TailNum WHERE P.Manufacturer = 'CESSNA'",
      1)
  }

  // where

  test("a filter over some rows serves queries that read no others") {
    def uses(condition: String, where: String): Unit = {
      val query = s"${planes("JOIN")} WHERE $condition"
      checkFilters(query, 1)
      withStore()(checkDecision(
        query,
        s"rows are dropped by the bloom filter of spark_catalog.default.planes (tailnum$where)"))
    }
    for (condition <- Seq(
        "p.manufacturer = 'CESSNA'",
        "'CESSNA' = p.manufacturer AND p.seats > 1",
        "p.manufacturer IN ('CESSNA')",
        "p.seats > 2 AND p.manufacturer = concat('CESS', 'NA') AND f.n > 3"
      )) {
      uses(condition, " where manufacturer = 'CESSNA'")
    }
    for (condition <- Seq(
        "p.manufacturer = 'BOEING'",
        "p.manufacturer LIKE 'CESS%'",
        "f.n > 3",
        "(p.manufacturer = 'CESSNA' OR p.seats = 1)")) {
      uses(condition, "")
    }
  }

  for ((where, condition, reason) <- Seq(
      ("tail > 'N5' AND n < 7", "y.n < 7", "the query does not imply its `where`"),
      ("tail > 'N5' AND n < 7", "y.n < 7 AND y.tail > 'N5'", ""),
      ("n < 7", "y.n <= 6", "the query does not imply its `where`"),
      ("n BETWEEN 1 AND 3", "y.n >= 1 AND y.n <= 3 AND y.tail > 'A'", ""),
      ("n IN (1, 2, 3)", "y.n IN (3, 2, 1)", ""),
      ("n + 1 = 3", "y.n + 1 = 3", ""),
      ("tail LIKE 'N1%'", "startswith(y.tail, 'N1')", ""),
      ("ts > '2013-01-01'", "y.ts > '2013-01-01'", "depends on the session or the time"),
      ("ts > TIMESTAMP '2013-01-01'", "y.ts > TIMESTAMP '2013-01-01'", "depends on the session or the time"),
      ("date(ts) < current_date()", "date(y.ts) < current_date()", "depends on the session or the time"),
      ("n > rand()", "y.n > 1", "depends on the session or the time"),
      ("nothing = 1", "y.n > 1", "cannot be resolved"),
      ("n = ", "y.n > 1", "cannot be resolved")
    )) {
    test(s"a filter where $where, and a query where $condition") {
      withTables("some") {
        sql("""CREATE TABLE some USING parquet AS SELECT concat('N', id) AS tail, int(id % 9) AS n,
          TIMESTAMP '2013-01-01' + make_dt_interval(int(id)) AS ts FROM range(40)""")
        buildTableFilter("some", Seq("tail"), Some("n >= 0")) { json =>
          json.withObject("/spec").put("where", where)
        }
        val query = s"SELECT x.id, y.n FROM flights x JOIN some y ON x.tailnum = y.tail WHERE $condition"
        if (reason.isEmpty) checkFilters(query, 1) else checkDeclined(query, reason)
      }
    }
  }

  // where the key stands

  test("below projections, filters, views and common table expressions") {
    sql("CREATE OR REPLACE TEMP VIEW fleet AS SELECT upper(manufacturer) AS maker, tailnum AS tail FROM planes WHERE seats > 1")
    checkFilters(
      "SELECT f.id, p.maker FROM (SELECT id, tailnum AS t FROM flights WHERE n > 5) f JOIN fleet p ON f.t = p.tail",
      1)
    checkFilters(
      "WITH p AS (SELECT tailnum AS x FROM planes WHERE seats > 2) SELECT f.id FROM flights f JOIN p ON f.tailnum = p.x",
      1)
    checkFilters(
      "SELECT f.tailnum, f.c, p.seats FROM (SELECT tailnum, count(*) AS c FROM flights GROUP BY 1) f JOIN planes p USING (tailnum)",
      1)
    checkFilters(
      "SELECT f.id FROM (SELECT * FROM flights UNION ALL SELECT * FROM flights) f JOIN planes p USING (tailnum)",
      2)
    checkFilters(
      "SELECT f.id, n.d FROM flights f JOIN numbers n ON f.n = n.l JOIN planes p ON f.tailnum = p.tailnum",
      1)
    checkFilters(
      "SELECT f.id, n.i FROM flights f LEFT JOIN numbers n ON f.n = n.dec JOIN planes p ON f.tailnum = p.tailnum",
      1)
    checkFilters(
      "SELECT f.id FROM flights f JOIN planes p ON f.tailnum = p.tailnum JOIN planes q ON f.tailnum = q.tailnum",
      1)
  }

  test("nothing that makes other rows of the relation's rows") {
    for (side <- Seq(
        "(SELECT max(tailnum) AS tailnum FROM planes GROUP BY seats)",
        "(SELECT * FROM planes LIMIT 5)",
        "(SELECT tailnum FROM planes UNION ALL SELECT 'N999')",
        "(SELECT concat(tailnum, '0') AS tailnum FROM planes)",
        "(SELECT explode(array(tailnum, 'N998')) AS tailnum FROM planes)",
        "(SELECT tailnum FROM planes TABLESAMPLE (50 PERCENT) REPEATABLE (1))"
      )) {
      checkFilters(s"SELECT f.id FROM flights f LEFT SEMI JOIN $side p ON f.tailnum = p.tailnum", 0)
    }
  }

  test("nothing that may come out otherwise when it is computed again") {
    checkFilters(
      "SELECT f.id, p.r > 2 FROM flights f JOIN (SELECT *, rand(5) AS r FROM planes) p ON f.tailnum = p.tailnum",
      0)
  }

  test("a subquery is filtered once") {
    checkFilters("SELECT (SELECT count(*) FROM flights f JOIN planes p USING (tailnum)) AS c FROM range(2)", 1)
    checkFilters(
      "SELECT id FROM flights WHERE n IN (SELECT f.n FROM flights f JOIN planes p USING (tailnum) WHERE p.seats = 1)",
      1)
    // here Spark infers the same of the other side, too
    checkFilters(
      "SELECT id FROM numbers t, LATERAL (SELECT f.id FROM flights f JOIN planes p USING (tailnum) WHERE f.n = t.dec) x",
      2)
  }

  // keys

  for ((condition, filters) <- Seq(
      ("f.n = n.i", 1),
      ("f.id = n.i", 1),
      ("smallint(f.n) = n.i", 1),
      ("tinyint(f.n % 100) = n.i", 1),
      ("f.n = n.l", 0),
      ("f.n = n.d", 1),
      ("float(f.n) = n.d", 1),
      ("double(f.id) = n.d", 1),
      ("-f.n * 0.0D = n.d", 1),
      ("f.n = n.f", 0),
      ("f.n = n.dec", 0),
      ("f.n = n.l AND n.day = date'2013-01-01' + f.n", 1),
      ("f.n = n.i AND n.odd", 1),
      ("f.n + 1 = n.i", 1),
      ("f.n = n.i + 1", 0),
      ("f.n <=> n.i", 0),
      ("f.n <=> n.l AND n.day = date'2013-01-01' + f.n", 0),
      ("f.n = n.i AND f.id < n.l", 1),
      ("f.n = n.i OR f.id = n.i", 0),
      ("f.n < n.i", 0)
    )) {
    test(s"keys: $condition") {
      checkFilters(s"SELECT f.id, n.i FROM flights f JOIN numbers n ON $condition WHERE f.id < 200", filters)
    }
  }

  test("a key that is computed above a join is not moved below it") {
    val join = "(SELECT int(substr(f.tailnum, 2)) AS k, f.id FROM flights f JOIN numbers n ON f.n = n.f) x"
    checkDeclined(s"SELECT x.id FROM $join JOIN numbers y ON x.k = y.i", "computed above a join")
    checkFilters(
      "SELECT x.id FROM (SELECT int(substr(tailnum, 2)) AS k, id FROM flights) x JOIN numbers y ON x.k = y.i",
      1)
  }

  test("a key that may fail where predicates become joins, or in one side of a UNION") {
    withTables("texts", "good") {
      sql("CREATE TABLE texts USING parquet AS SELECT * FROM VALUES (1, '3', 2), (2, 'x', 2147483647) AS t(id, s, n)")
      sql("CREATE TABLE good USING parquet AS SELECT 1 AS id")
      def query(side: String) = s"SELECT x.* FROM ($side) x JOIN numbers n ON x.k = n.i"
      for (predicate <- Seq(
          "texts.id IN (SELECT id FROM good)",
          "EXISTS (SELECT 1 FROM good WHERE good.id = texts.id)",
          "texts.id = 7 OR EXISTS (SELECT 1 FROM good WHERE good.id = texts.id)"
        ))
        checkFilters(s"SELECT texts.id FROM texts JOIN numbers n ON int(texts.s) = n.i WHERE $predicate", 1)
      checkDeclined(
        query("SELECT n AS k FROM flights UNION ALL SELECT coalesce(n, 0) + 1 AS k FROM texts JOIN good USING (id)"),
        "computed above a join")
      checkFilters(query("SELECT int(s) AS k FROM texts WHERE id < 2"), 1)
      checkFilters(query("SELECT n AS k FROM flights UNION ALL SELECT int(s) AS k FROM texts WHERE id < 2"), 2)
      checkFilters(query("SELECT n AS k, id IN (SELECT id FROM good) AS found FROM texts"), 1)
    }
  }

  test("a key of what is known of whole files") {
    withTables("two_files") {
      sql("CREATE TABLE two_files (id INT, s STRING) USING parquet")
      sql("INSERT INTO two_files VALUES (1, '13')")
      sql("INSERT INTO two_files SELECT 0, array_join(transform(sequence(1, 20), i -> sha2(string(i), 256)), '')")
      val dropped = sql("SELECT _metadata.file_size FROM two_files WHERE id = 0").head().getLong(0)
      // never NULL, or Spark itself would ask the files whether it is
      val computed = s"coalesce(int(1 DIV (_metadata.file_size - $dropped)), 0)"
      def query(key: String) =
        s"SELECT x.k FROM (SELECT $key AS k FROM two_files WHERE id > 0) x JOIN numbers n ON x.k = n.i"
      checkFilters(query(s"$computed + 13"), 1)
      checkFilters(query(s"$computed + id"), 1)
      checkFilters(query("_metadata.file_size"), 1, "spark.sql.adaptive.enabled" -> "false")
    }
  }

  test("keys with a subquery, or a function of the user's") {
    spark.udf.register("shorten", (text: String) => if (text == null) null else text.take(3))
    checkFilters("SELECT f.id FROM flights f JOIN planes p ON shorten(f.tailnum) = p.tailnum", 0)
    checkFilters("SELECT f.id FROM flights f JOIN numbers n ON f.n + (SELECT max(seats) FROM planes) = n.i", 0)
  }

  // cost

  test("a broadcast join is left alone, unless a hint makes it another") {
    val broadcast = "spark.sql.autoBroadcastJoinThreshold" -> "10MB"
    checkDeclined(planes("JOIN"), "is a broadcast join", broadcast)
    checkDeclined(planes("JOIN").replace("SELECT", "SELECT /*+ BROADCAST(p) */"), "is a broadcast join")
    for (hint <- Seq("MERGE", "SHUFFLE_HASH")) {
      checkFilters(planes("JOIN").replace("SELECT", s"SELECT /*+ $hint(p) */"), 1, broadcast)
    }
  }

  test("a small side is left alone") {
    checkDeclined(
      planes("JOIN"),
      "the side to filter is small",
      "spark.joinery.runtimeFilter.applicationSideMinSize" -> "10MB")
  }

  test("a filter with as many keys as there are to be filtered") {
    withTables("many") {
      sql("CREATE TABLE many USING parquet AS SELECT concat('N', id) AS tail FROM range(40)")
      sql("ANALYZE TABLE flights COMPUTE STATISTICS FOR ALL COLUMNS")
      val query = "SELECT f.id FROM flights f JOIN many m ON f.tailnum = m.tail"
      buildTableFilter("many", Seq("tail"))()
      checkFilters(query, 1, "spark.sql.cbo.enabled" -> "true")
      buildTableFilter("many", Seq("tail"))(_.put("keys", 2000))
      checkDeclined(query, "it has 2000 keys", "spark.sql.cbo.enabled" -> "true")
    }
  }

  // plans

  test("without a store, or switched off, plans are as they were") {
    def optimized: String = sql(planes("JOIN")).queryExecution.optimizedPlan.canonicalized.toString
    val stock = withConf(Shuffled: _*)(optimized)
    assert(withStore()(optimized) != stock)
    assert(withStore("spark.joinery.runtimeFilter.enabled" -> "false")(optimized) == stock)
    assert(withStore("spark.joinery.store" -> store.resolve("nowhere").toString)(optimized) == stock)
    withStore("spark.joinery.store" -> store.resolve("nowhere").toString)(checkDecision(
      planes("JOIN"),
      "there is no artifact store at"))
  }

  test("EXPLAIN shows it, short") {
    withStore() {
      val shown = sql(s"EXPLAIN FORMATTED ${planes("JOIN")}").head().getString(0)
      assert(
        """joinery_might_contain\(tailnum#\d+, spark_catalog.default.planes\)""".r.findFirstIn(shown).isDefined,
        shown)
      assert(sql(s"EXPLAIN EXTENDED ${planes("JOIN")}").head().getString(0).linesIterator.forall(_.length < 2000))
    }
  }

  test("a DataFrame that is kept and used again") {
    val query = withStore() {
      val frame = sql(planes("JOIN"))
      assert(frame.collect().length == 266 && frame.count() == 266)
      frame
    }
    withConf(Shuffled: _*)(assert(query.where("seats >= 0").collect().length == 266))
    withStore()(assert(query.where("seats >= 0").collect().length == 266))
  }

  test("partitions of the side to filter are pruned by it") {
    withTables("by_n") {
      sql("CREATE TABLE by_n USING parquet PARTITIONED BY (n) AS SELECT id, n + 40 AS n FROM flights WHERE n < 20")
      val query = "SELECT b.id, x.i FROM by_n b JOIN numbers x ON b.n = x.i"
      val expected = withConf(Shuffled: _*)(Answers.rows(sql(query)))
      withStore() {
        val answer = sql(query)
        assert(Answers.rows(answer) == expected && expected.length == 100)
        val scans =
          collect(plan(answer)) { case scan: FileSourceScanExec => scan }.filter(_.relation.partitionSchema.nonEmpty)
        assert(scans.map(_.metrics("numPartitions").value) == Seq(10), plan(answer)) // 40 to 49 of 40 to 59
      }
    }
  }

  // next to filters that the query builds

  test("a filter without where, and a predicate of the query: the query builds another one beside it") {
    def both(predicate: String): (Int, Int) = {
      val query = s"${planes("JOIN")} WHERE $predicate"
      val expected = withConf(Shuffled :+ ("spark.joinery.store" -> ""): _*)(Answers.rows(sql(query)))
      withStore("spark.joinery.runtimeFilter.build.enabled" -> "true") {
        val answer = sql(query)
        assert(Answers.rows(answer) == expected, query)
        val tests = collectWithSubqueries(plan(answer)) { case node: FilterExec => node.condition.toString }
          .filter(_.contains("joinery_might_contain(")).mkString
        ("might_contain\\(".r.findAllIn(tests).size, ", \\d+ keys of ".r.findAllIn(tests).size)
      }
    }
    val (tests, built) = both("p.seats = 3")
    assert(tests == 2 && built >= 1)
    assert(both("p.manufacturer = 'CESSNA'") == (1, 0)) // the store's has the same where
    assert(both("p.manufacturer <> 'BOEING'") == (1, 0)) // a predicate that keeps most rows
  }
}
