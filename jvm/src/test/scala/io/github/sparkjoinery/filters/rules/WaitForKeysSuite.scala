package io.github.sparkjoinery.filters.rules

import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.execution.{FileSourceScanExec, FilterExec}

import io.github.sparkjoinery.{Answers, OnDefaultLine}

/** Filters of keys that a small side's shuffle has. */
class WaitForKeysSuite extends BuiltFilters {

  private def joined(join: String, columns: String): String =
    s"SELECT $columns FROM ${join.replace("small", "(SELECT * FROM small WHERE class = 3)")} ON x.k = y.k"

  for ((join, columns, filters) <- Seq(
      ("fact x JOIN small y", "x.id, y.name", 1),
      ("small x JOIN fact y", "y.id, x.name", 1),
      ("fact x LEFT SEMI JOIN small y", "x.id", 1),
      ("small x LEFT SEMI JOIN fact y", "x.name", 1),
      ("fact x LEFT JOIN small y", "x.id, y.name", 0),
      ("small x LEFT JOIN fact y", "x.name, y.id", 1),
      ("fact x RIGHT JOIN small y", "x.id, y.name", 1),
      ("small x RIGHT JOIN fact y", "x.name, y.id", 0),
      ("fact x FULL JOIN small y", "x.id, y.name", 0),
      ("fact x LEFT ANTI JOIN small y", "x.id", 0),
      ("small x LEFT ANTI JOIN fact y", "x.name", 1)
    )) test(join)(checkBuilt(joined(join, columns), filters))

  test("no filter is built without adaptive execution") {
    val query = joined("fact x JOIN small y", "x.id, y.name")
    val off = "spark.sql.adaptive.enabled" -> "false"
    for (one <- Seq(query, query.replace("SELECT ", "SELECT /*+ RUNTIME_FILTER(y) */ ")))
      checkNone(one, "no filter is built: adaptive execution is off", off)
    checkBuilt(query, 0, off, "spark.sql.autoBroadcastJoinThreshold" -> "10MB") // which is broadcast anyway
  }

  test("IN and EXISTS") {
    checkBuilt("SELECT id FROM fact WHERE k IN (SELECT k FROM small WHERE class = 3)", 1)
    checkBuilt("SELECT id FROM fact f WHERE EXISTS (SELECT 1 FROM small s WHERE class = 3 AND s.k = f.k)", 1)
    checkBuilt("SELECT id FROM fact WHERE k NOT IN (SELECT k FROM small WHERE class = 3 AND k IS NOT NULL)", 0)
    checkBuilt("SELECT name FROM small s WHERE class = 3 AND NOT EXISTS (SELECT 1 FROM fact f WHERE s.k = f.k)", 1)
    checkBuilt("SELECT k, k IN (SELECT k FROM fact) AS found FROM small WHERE class = 3 AND k IS NOT NULL", 1)
    checkBuilt("SELECT k, EXISTS (SELECT 1 FROM fact f WHERE f.k = s.k) AS found FROM small s WHERE class = 3", 1)
  }

  test("keys that an outer join makes of NULLs, or an aggregate of -0.0", OnDefaultLine) {
    withTables("zeros", "texts") {
      sql("CREATE TABLE zeros USING parquet AS SELECT double('-0.0') AS a, map(2, 'b', 1, 'a') AS m")
      sql("CREATE TABLE texts USING parquet AS SELECT concat(id, '.0') AS k FROM range(100)")
      val sides = Seq(
        "(SELECT l.class, coalesce(r.k, 7) AS k FROM small l LEFT JOIN small r ON l.k = r.b)",
        "(SELECT r.class, if(l.k IS NULL, 7, l.k) AS k FROM small l RIGHT JOIN small r ON l.b = r.k)",
        "(SELECT nvl(l.k, r.k + 1) AS k FROM small l FULL JOIN small r ON l.b = r.k)",
        "(SELECT coalesce(l.k, 5) AS k FROM small l RIGHT JOIN small r ON coalesce(l.k, 5) = r.b)"
      )
      for (side <- sides) checkBuilt(s"SELECT /*+ RUNTIME_FILTER(s) */ f.id FROM fact f JOIN $side s ON f.k = s.k", 1)
      checkBuilt(
        """SELECT /*+ RUNTIME_FILTER(s) */ f.id FROM fact f
          JOIN (SELECT l.k AS other, r.k + 1 AS k FROM small l FULL JOIN small r ON l.k = r.b) s ON f.k = s.k""",
        1
      )
      for (side <- Seq(
          "SELECT string(a) AS k FROM zeros GROUP BY a",
          "SELECT string(a) AS k FROM (SELECT DISTINCT a FROM zeros)"))
        checkBuilt(s"SELECT /*+ RUNTIME_FILTER(s) */ t.k FROM texts t JOIN ($side) s ON t.k = s.k", 1)
      checkBuilt(
        "SELECT /*+ RUNTIME_FILTER(s) */ z.a FROM zeros z JOIN (SELECT a FROM zeros GROUP BY a) s ON z.a = s.a",
        1)
    }
  }

  test("no files are read that a condition about them leaves out") {
    withTables("three_files") {
      sql("CREATE TABLE three_files USING parquet AS SELECT /*+ REPARTITION(3) */ k FROM small")
      val one = sql("SELECT min(_metadata.file_name) FROM three_files").head().getString(0)
      val answer = checkBuilt(
        s"""SELECT /*+ RUNTIME_FILTER(s) */ f.id FROM fact f
          JOIN (SELECT k FROM three_files WHERE _metadata.file_name = '$one') s ON f.k = s.k""",
        1
      )
      val read = collectWithSubqueries(plan(answer)) {
        case scan: FileSourceScanExec if scan.tableIdentifier.exists(_.table == "three_files") =>
          scan.metrics("numFiles").value
      }
      assert(read.nonEmpty && read.forall(_ == 1), read)
    }
  }

  test("an aggregate that would fail of a part of a key's rows gets all of them or none", OnDefaultLine) {
    withTables("parts") {
      // 20,000 rows that match, so that the test pauses, between rows that match nothing
      sql("""CREATE TABLE parts USING parquet AS SELECT
        CASE WHEN id < 3 OR id >= 20000 THEN 'x' ELSE concat('N', id % 40) END AS k FROM range(0, 20007, 1, 1)""")
      val counts = "SELECT k, 100 DIV (count(*) - 7) AS c FROM parts GROUP BY k"
      val windows = "SELECT k, 100 DIV (count(*) OVER (PARTITION BY k) - 7) AS c FROM parts"
      for (groups <- Seq(counts, windows))
        checkBuilt(s"SELECT /*+ RUNTIME_FILTER(s) */ sum(g.c) FROM ($groups) g JOIN small s ON g.k = s.name", 1)
    }
  }

  test("a cast of partition columns, which would be tested for partitions that the query drops") {
    withTables("parted") {
      sql("CREATE TABLE parted (id BIGINT, v INT, p STRING) USING parquet PARTITIONED BY (p)")
      sql("INSERT INTO parted VALUES (1, 10, '1'), (2, 0, 'abc'), (3, 20, '7')")
      def query(key: String) =
        s"SELECT /*+ RUNTIME_FILTER(s) */ b.id FROM parted b JOIN small s ON $key = s.k WHERE b.v > 5"
      checkBuilt(query("CAST(b.p AS INT)"), 0)
      checkBuilt(query("CAST(b.p AS INT) + b.v"), 1)
    }
  }

  test("several keys, one filter") {
    val answer = checkBuilt(
      "SELECT f.id, s.name FROM fact f JOIN small s ON f.k = s.k AND f.name = s.name AND f.b = s.b WHERE s.class IN (0, 1, 2, 3)",
      1)
    assert(keysIn(answer).length == 1)
  }

  test("it drops rows before they are shuffled") {
    for (codegen <- Seq("CODEGEN_ONLY", "NO_CODEGEN")) {
      val answer = checkBuilt(
        joined("fact x JOIN small y", "x.id, y.name"),
        1,
        "spark.sql.codegen.factoryMode" -> codegen,
        "spark.sql.codegen.wholeStage" -> (codegen == "CODEGEN_ONLY").toString
      )
      val passed = collect(plan(answer)) {
        case filter: FilterExec if filter.condition.toString.contains("joinery") =>
          filter.metrics("numOutputRows").value
      }
      // of 20,000; 4 have no key, and a few pass that should not
      assert(passed.sum >= 396 && passed.sum < 410, plan(answer))
      assert(keysIn(answer).map(_._1) == Seq(40) && keysIn(answer).forall(_._2.endsWith("small")), plan(answer))
      assert(waits(answer).isEmpty)
    }
  }

  test("one filter for a chain of joins by one key") {
    val answer = checkBuilt(
      "SELECT f.id, t.w FROM fact f JOIN small s ON f.k = s.k JOIN second t ON f.k = t.k WHERE s.class = 3 AND f.id < 5000",
      2)
    assert(keysIn(answer).map(_._1).distinct == Seq(40), plan(answer))
  }

  test("one small table, joined by two columns") {
    val few = "(SELECT * FROM VALUES (3), (13), (23) AS t(k))"
    checkBuilt(s"SELECT f.id FROM fact f JOIN $few a ON f.k = a.k RIGHT JOIN $few b ON f.k2 = b.k", 2, Whole)
  }

  test("through aggregates, windows, unions, LAST JOINs") {
    val small = "(SELECT * FROM small WHERE class = 3)"
    for ((side, tests) <- Seq(
        ("(SELECT k, count(*) AS c FROM fact GROUP BY k)", 1),
        ("(SELECT k, id, row_number() OVER (PARTITION BY k ORDER BY id) AS c FROM fact)", 1),
        ("(SELECT k, id AS c FROM fact UNION ALL SELECT k, w FROM second)", 2),
        ("(SELECT k + 1 AS k, id AS c FROM fact WHERE id > 10)", 1),
        ("(SELECT f.k, t.w AS c FROM fact f LAST JOIN second t ORDER BY t.w ON f.k2 = t.k2)", 1)
      )) {
      val answer = checkBuilt(s"SELECT f.k, f.c FROM $side f JOIN $small s ON f.k = s.k", tests)
      val scans = collect(plan(answer)) {
        case filter: FilterExec if filter.condition.toString.contains("joinery") && !isShuffled(filter.child) =>
          filter.child.nodeName
      }
      assert(scans.forall(name => name.contains("Scan") || name.contains("ColumnarToRow")), plan(answer))
    }
  }

  test("the right side of a LAST JOIN, by keys and times of the left") {
    for (sides <-
        Seq("f.k = s.k", "f.k = s.k AND f.day <= s.day", "f.k = s.k AND f.day <= s.day AND f.day >= s.day - 20")) {
      checkBuilt(
        s"SELECT s.name, f.id FROM (SELECT * FROM small WHERE class = 3) s LAST JOIN fact f ORDER BY f.day, f.id ON $sides",
        1)
    }
    checkBuilt(
      "SELECT f.id, s.name FROM fact f LAST JOIN (SELECT * FROM small WHERE class = 3) s ORDER BY s.day ON f.k = s.k",
      0)
  }

  test("a join whose keys are few filters the next, on another column") {
    checkBuilt(
      "SELECT f.id, t.w FROM fact f JOIN small s ON f.k = s.k JOIN second t ON f.k2 = t.k2 WHERE s.class = 3",
      2)
  }

  test("statistics that tell of few keys, without a predicate", OnDefaultLine) {
    val cbo = "spark.sql.cbo.enabled" -> "true"
    val query = "SELECT f.id, s.name FROM fact f JOIN few s ON f.k = s.k"
    withTables("few") {
      sql("CREATE TABLE few USING parquet AS SELECT k, name FROM small")
      checkBuilt(query, 0, cbo)
      sql("ANALYZE TABLE few COMPUTE STATISTICS FOR ALL COLUMNS")
      sql("ANALYZE TABLE fact COMPUTE STATISTICS FOR COLUMNS k")
      checkBuilt(query, 1, cbo)
    }
  }

  test("each join of a chain by different columns filters the next", OnDefaultLine) {
    withTables("third") {
      sql("CREATE TABLE third USING parquet AS SELECT w, sha2(string(w), 256) AS pad FROM second")
      val answer = checkBuilt(
        "SELECT f.id, v.pad FROM fact f JOIN small s ON f.k = s.k JOIN second t ON f.k2 = t.k2 JOIN third v ON t.w = v.w WHERE s.class = 3",
        3)
      assert(keysIn(answer).length == 3, plan(answer))
    }
  }

  test("a broadcast join, which needs no filter, makes the keys of its table few for the next join", OnDefaultLine) {
    for (small <- Seq("small s", "(SELECT DISTINCT k, class FROM small) s")) {
      val answer = checkBuilt(
        s"SELECT /*+ BROADCAST(s) */ f.id, t.w FROM fact f JOIN $small ON f.k = s.k JOIN second t ON f.k2 = t.k2 WHERE s.class = 3",
        1
      )
      val passed = collect(plan(answer)) {
        case filter: FilterExec if filter.condition.toString.contains("joinery") =>
          filter.metrics("numOutputRows").value
      }
      assert(passed.sum > 500 && passed.sum < 3000, plan(answer)) // of 30,000; 396 rows of the fact have 396 keys
    }
    val semi =
      "SELECT t.w, f.id FROM (SELECT /*+ BROADCAST(s) */ id, k2 FROM fact f LEFT SEMI JOIN small s ON f.k = s.k AND s.class = 3) f LEFT JOIN second t ON f.k2 = t.k2"
    checkBuilt(semi, 1)
    // rows that a left join keeps have all keys
    val outer =
      "SELECT /*+ BROADCAST(s) */ f.id, t.w, s.name FROM fact f LEFT JOIN (SELECT * FROM small WHERE class = 3) s ON f.k = s.k JOIN second t ON f.k2 = t.k2"
    checkBuilt(outer, 0)
  }

  test(
    "no filter of the rows that the other side's keys come from, and what is computed once stays so",
    OnDefaultLine) {
    withTables("tiny", "large") {
      sql("CREATE TABLE large USING parquet AS SELECT hash(id) AS a, id % 100 AS b FROM range(120000)")
      sql("CREATE TABLE tiny USING parquet AS SELECT id AS b, concat('T', id) AS kind, id % 10 AS part FROM range(100)")
      val days =
        "SELECT t.kind, t.part, f.a % 50 AS day, count(*) AS c FROM large f JOIN tiny t ON f.b = t.b GROUP BY ALL"
      for ((on, tests, shared) <- Seq(
          ("a.kind = b.kind", 1, true), // of the fact by the tiny table, once
          ("a.kind = b.kind AND a.part = b.part", 1, true),
          ("a.kind = upper(b.kind)", 1, true),
          ("a.kind = b.kind AND a.part = 3", 0, true) // the fact is shuffled once for both
        )) {
        val answer = checkBuilt(
          s"WITH days AS ($days) SELECT a.kind, a.c, b.c AS other FROM days a JOIN days b ON a.day = b.day AND $on",
          tests
        )
        assert(collect(plan(answer)) { case reused: ReusedExchangeExec => reused }.nonEmpty == shared, plan(answer))
      }
    }
  }

  test("partitioned tables, and formats without statistics", OnDefaultLine) {
    for ((format, partitions) <- Seq("parquet" -> "PARTITIONED BY (class)", "orc" -> "", "json" -> "", "csv" -> "")) {
      withTables("other") {
        sql(s"CREATE TABLE other USING $format $partitions AS SELECT k, name, day, class FROM small")
        checkBuilt(
          "SELECT f.id, o.name FROM fact f JOIN other o ON f.k = o.k AND f.day = o.day WHERE o.class IN (0, 1, 2, 3)",
          1)
      }
    }
  }

  test("the ends of types, of keys and of bounds that there are not", OnDefaultLine) {
    val ends = Seq(
      "tinyint" -> Seq("-128", "127"),
      "int" -> Seq("-2147483648", "2147483647"),
      "bigint" -> Seq("-9223372036854775808", "9223372036854775807"),
      "decimal(38,0)" -> Seq("9" * 38, "-" + "9" * 38),
      "date" -> Seq("DATE '-5877641-06-23'", "DATE '+5881580-07-11'", "DATE '2020-01-01'"),
      "timestamp" -> Seq("TIMESTAMP '-290308-12-21 19:59:05.224192Z'", "TIMESTAMP '+294247-01-10 04:00:54.775807Z'"),
      "timestamp_ntz" -> Seq("TIMESTAMP_NTZ '-290308-12-21 19:59:05.224192'", "TIMESTAMP_NTZ '2020-01-01 00:00:00'")
    )
    // ORC does not write the last of days and times
    for ((dataType, values) <- ends; format <- Seq("parquet", "orc")
      if format == "parquet" || !values.head.contains("'"))
      withTables("a", "b") {
        val rows = values.map(value => s"(CAST($value AS $dataType), 1)").mkString("VALUES ", ", ", " AS t(k, v)")
        sql(s"CREATE TABLE a USING $format AS SELECT * FROM $rows")
        sql(s"CREATE TABLE b USING $format AS SELECT * FROM $rows")
        checkBuilt("SELECT /*+ RUNTIME_FILTER(b) */ string(a.k) AS k FROM a JOIN b ON a.k = b.k", 1)
      }
  }
}
