package io.github.sparkjoinery.filters.rules

import java.nio.file.Files

import io.github.sparkjoinery.Answers

/** Smallest and largest values of keys, and the readers of files that get them. */
class KeyBoundsSuite extends BuiltFilters {

  test("a file that has no microseconds, where a reader takes them off what it is told") {
    withTables("millis", "micros") {
      withConf("spark.sql.parquet.outputTimestampType" -> "TIMESTAMP_MILLIS")(
        sql("CREATE TABLE millis USING parquet AS SELECT timestamp'2024-01-01 12:00:00' AS t, 3 AS k FROM range(10)"))
      sql("""CREATE TABLE micros USING parquet AS SELECT timestamp'2024-01-01 12:00:00' + make_dt_interval(0, 0, 0, s) AS t,
        3 AS k FROM VALUES (-0.0005), (0.0), (0.0005) AS v(s)""")
      for (seconds <- Seq("> 0", "= 0", "< 0"); compared <- Seq("<", "<=", ">", ">=")) {
        val some =
          s"(SELECT * FROM micros WHERE unix_micros(t) - unix_micros(timestamp'2024-01-01 12:00:00') $seconds)"
        checkBuilt(
          s"SELECT /*+ RUNTIME_FILTER(s) */ m.t FROM millis m JOIN $some s ON m.k = s.k AND m.t $compared s.t",
          1,
          Whole
        )
      }
      checkBuilt(
        "SELECT /*+ RUNTIME_FILTER(s) */ s.t, m.k FROM micros s LAST JOIN millis m ORDER BY m.t ON m.k = s.k AND m.t < s.t",
        1)
    }
  }

  for ((format, told) <-
      Seq(
        "parquet" -> Set("k", "day"),
        "orc" -> Set.empty[String],
        "json" -> Set.empty[String],
        "csv" -> Set.empty[String]))
    test(s"the reader of $format is told bounds of: ${told.mkString(", ")}") {
      withTables("other") {
        sql(s"CREATE TABLE other USING $format AS SELECT k, day, name FROM small")
        val answer = checkBuilt(
          "SELECT /*+ RUNTIME_FILTER(s) */ o.name FROM other o JOIN small s ON o.k = s.k AND o.day = s.day",
          1)
        for (column <- Seq("k", "day"); compared <- Seq("<=", ">=")) {
          val bound = s"$column#\\d+ $compared (knownnotnull\\()?[\\d-]+".r.findFirstIn(plan(answer).toString)
          assert(bound.map(!_.contains("knownnotnull")).contains(told(column)), plan(answer))
        }
      }
    }

  test("decimals that are narrower in a file than in the table") {
    val folder = Files.createTempDirectory("decimals")
    for ((precision, i) <- Seq(9, 18).zipWithIndex)
      sql(s"SELECT CAST(id AS DECIMAL($precision, 2)) AS d, id AS v FROM range($i, 12, 2, 1)").write.parquet(
        s"$folder/p=$i")
    spark.read.option("mergeSchema", "true").parquet(folder.toString).createOrReplaceTempView("decimals")
    withTables("wide") {
      sql(
        "CREATE TABLE wide USING parquet AS SELECT CAST(c AS DECIMAL(18, 2)) AS d, 'n' AS name FROM VALUES (6), (7), (42949672.98) AS t(c)")
      checkBuilt("SELECT /*+ RUNTIME_FILTER(w) */ t.v FROM decimals t JOIN wide w ON t.d = w.d WHERE w.name = 'n'", 1)
    }
  }

  test("files of ORC with a column of another type than the table's") {
    withTables("written", "read") {
      sql("CREATE TABLE written USING orc AS SELECT string(id) AS k, id AS v FROM range(100)")
      val folder = spark.table("written").inputFiles.head.replaceAll("/[^/]*$", "")
      sql(s"CREATE TABLE read (k BIGINT, v BIGINT) USING orc LOCATION '$folder'")
      checkBuilt(
        "SELECT /*+ RUNTIME_FILTER(s) */ r.v FROM read r JOIN (SELECT bigint(k) AS k FROM small WHERE name = 'N5') s ON r.k = s.k",
        1)
    }
  }

  test("a reader of JSON would take the first of two values, and skip by it") {
    val folder = Files.createTempDirectory("twice")
    Files.writeString(folder.resolve("a.json"), "{\"k\":1,\"k\":5,\"v\":1}\n{\"k\":5,\"v\":2}\n")
    spark.read.schema("k INT, v INT").json(folder.toString).createOrReplaceTempView("twice")
    checkBuilt(
      "SELECT /*+ RUNTIME_FILTER(s) */ t.v FROM twice t JOIN (SELECT * FROM small WHERE name = 'N5') s ON t.k = s.k",
      1)
  }

  for (format <- Seq("orc", "csv"))
    test(s"a UNION of which one side alone may be told of dates: parquet and $format") {
      withTables("one", "other") {
        sql("CREATE TABLE one USING parquet AS SELECT date'2020-01-05' AS day, 1 AS id")
        sql(s"CREATE TABLE other USING $format AS SELECT date'2020-01-04' AS day, 2 AS id")
        for (tables <- Seq(Seq("one", "other"), Seq("other", "one")); k <- Seq("4", "-1")) {
          val union = tables.map(table => s"SELECT day, id FROM $table").mkString(" UNION ALL ")
          val query =
            s"SELECT /*+ RUNTIME_FILTER(s) */ u.id FROM ($union) u JOIN (SELECT * FROM small WHERE b - k < $k) s ON u.day = s.day"
          val expected = unfiltered(query)
          withConf(Shuffled: _*)(assert(Answers.rows(sql(query)) == expected, query))
        }
      }
    }

  test("the reader of one side of a UNION is told bounds beside rows that no reader reads") {
    for (other <-
        Seq("SELECT int(id) FROM range(10)", "VALUES (1)")) {
      val answer =
        checkBuilt(
          s"""SELECT /*+ RUNTIME_FILTER(s) */ s.name FROM (SELECT k FROM fact UNION ALL $other) u
             |JOIN (SELECT * FROM small WHERE class = 3) s ON u.k = s.k""".stripMargin,
          2
        )
      assert(!plan(answer).toString.contains("knownnotnull"), plan(answer))
    }
  }
}
