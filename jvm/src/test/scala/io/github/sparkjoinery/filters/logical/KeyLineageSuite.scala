package io.github.sparkjoinery.filters.logical

import java.sql.DriverManager

import io.github.sparkjoinery.filters.rules.BuiltFilters

/** Filters that move down to where a key comes from, and keys that may fail there. */
class KeyLineageSuite extends BuiltFilters {

  private def joined(side: String, key: String = "u.k"): String =
    s"SELECT /*+ RUNTIME_FILTER(s) */ s.name, s.k FROM ($side) u JOIN (SELECT * FROM small WHERE class = 3) s ON $key = s.k"

  test("a UNION is filtered where the keys of all its sides may be") {
    withTables("bad") {
      sql("CREATE TABLE bad USING parquet AS SELECT * FROM VALUES (0, 2147483647, 'x'), (1, 2, '13') AS t(id, n, s)")
      val fails = "SELECT coalesce(bad.n, 0) + 1 AS k FROM bad JOIN small good ON bad.id = good.k"
      checkBuilt(joined(s"SELECT k FROM fact UNION ALL $fails"), 0)
      checkBuilt(joined(s"$fails UNION ALL SELECT k FROM fact"), 0)
      checkBuilt(joined(s"SELECT k FROM fact UNION ALL SELECT k FROM fact UNION ALL ($fails)"), 0)
      checkBuilt(joined("SELECT k FROM fact UNION ALL SELECT int(s) AS k FROM bad WHERE id > 0"), 2)
      checkBuilt(joined("SELECT k FROM fact UNION ALL SELECT k FROM second"), 2)
      checkBuilt(joined("SELECT k, count(*) FROM (SELECT k FROM fact UNION ALL SELECT k FROM second) GROUP BY k"), 2)
      checkBuilt(joined("SELECT k FROM fact UNION ALL SELECT 13 AS k FROM second JOIN second t USING (w)"), 2)
    }
  }

  test("a UNION of texts, some of which an aggregate makes of 0.0 for -0.0") {
    withTables("texts", "zeros", "zero") {
      sql("CREATE TABLE texts USING parquet AS SELECT concat('N', id) AS k FROM range(100)")
      sql("CREATE TABLE zeros USING parquet AS SELECT * FROM VALUES (double('-0.0')), (1.5D) AS t(a)")
      sql("CREATE TABLE zero USING parquet AS SELECT '0.0' AS k, 1 AS one")
      def query(union: String) =
        s"SELECT /*+ RUNTIME_FILTER(s) */ u.k, s.one FROM ($union) u JOIN zero s ON u.k = s.k"
      val grouped = "SELECT string(a) AS k FROM (SELECT a FROM zeros GROUP BY a)"
      checkBuilt(query(s"SELECT k FROM texts UNION ALL $grouped"), 0)
      checkBuilt(query(s"$grouped UNION ALL SELECT k FROM texts"), 0)
      checkBuilt(query("SELECT k FROM texts UNION ALL SELECT string(a) AS k FROM zeros"), 2, Whole)
    }
  }

  test("a key that doubles with each projection") {
    def doubled(rows: String) = (1 to 7).foldLeft(rows) { case (below, i) =>
      s"SELECT id, if(x > $i, x, x + 1) AS x FROM ($below)"
    }
    checkBuilt(joined(doubled("SELECT id, coalesce(k, 0) AS x FROM fact"), "u.x"), 0)
    val source = doubled("SELECT /*+ REPARTITION(2) */ id, coalesce(k, 0) AS x FROM fact")
    checkBuilt(s"SELECT /*+ RUNTIME_FILTER(u) */ u.id, s.name FROM ($source) u JOIN small s ON u.x = s.k", 1)
  }

  test("a key that a function of the user's makes in a projection is not made a second time") {
    spark.udf.register("next_of", (k: Int) => k + 1)
    checkBuilt(joined("SELECT coalesce(next_of(k), 0) AS x FROM fact", "u.x"), 0)
    checkBuilt(joined("SELECT coalesce(k + 1, 0) AS x FROM fact", "u.x"), 1)
  }

  test("a key that may fail, of a source that leaves predicates to Spark") {
    val url = "jdbc:derby:memory:lineage"
    val connection = DriverManager.getConnection(s"$url;create=true")
    try {
      connection.createStatement().execute("CREATE TABLE texts (id INT, s VARCHAR(9))")
      connection.createStatement().execute("INSERT INTO texts VALUES (1, '13'), (2, 'x')")
      for (pushed <- Seq("true", "false")) {
        spark.read.option("pushDownPredicate", pushed).jdbc(url, "texts", new java.util.Properties)
          .createOrReplaceTempView("texts_elsewhere")
        checkBuilt(joined("SELECT * FROM texts_elsewhere WHERE s <> 'x'", "int(u.s)"), 1)
        checkBuilt(joined("SELECT * FROM texts_elsewhere WHERE s <> 'x'", "u.id"), 1, Whole)
        checkBuilt(joined("SELECT * FROM texts_elsewhere", "length(u.s) + 1"), 1, Whole)
      }
    } finally connection.close()
  }

  test("a key that may fail, beside a NOT NULL that Spark tests last") {
    withTables("bad") {
      sql("CREATE TABLE bad USING parquet AS SELECT * FROM VALUES (NULL, NULL, 'x'), (1, 2, '13') AS t(id, n, s)")
      checkBuilt(joined("SELECT * FROM bad WHERE id IS NOT NULL", "int(u.s)"), 1)
      checkBuilt(joined("SELECT * FROM bad WHERE try_cast(s AS INT) IS NOT NULL", "int(u.s)"), 1)
      checkBuilt(joined("SELECT t.* FROM bad t JOIN small n ON t.id = n.k", "int(u.s)"), 0)
      checkBuilt(
        joined(
          "SELECT s FROM (SELECT s, if(s RLIKE '^[0-9]+$', 1, NULL) AS ok FROM bad) WHERE ok IS NOT NULL",
          "int(u.s)"),
        1)
      checkBuilt(joined("SELECT * FROM bad WHERE id > 0", "int(u.s)"), 1)
      sql("CACHE TABLE kept_bad AS SELECT * FROM bad")
      try checkBuilt(joined("SELECT * FROM kept_bad WHERE id IS NOT NULL", "int(u.s)"), 1)
      finally sql("UNCACHE TABLE kept_bad")
    }
  }

  test("a key that fails for rows that a predicate drops") {
    withTables("bad") {
      sql("CREATE TABLE bad USING parquet AS SELECT * FROM VALUES (0, 'x'), (1, '13') AS t(id, s)")
      checkBuilt(joined("SELECT * FROM bad WHERE id > 0", "int(u.s)"), 1)
      checkBuilt(joined("SELECT * FROM bad WHERE id = (SELECT max(k) FROM small WHERE k < 2)", "int(u.s)"), 1)
      // a key above the joins that these become is not moved below them
      checkBuilt(joined("SELECT * FROM bad WHERE id IN (SELECT k FROM small)", "int(u.s)"), 0)
      checkBuilt(joined("SELECT * FROM bad WHERE EXISTS (SELECT 1 FROM small WHERE k = id)", "int(u.s)"), 0)
      checkBuilt(joined("SELECT * FROM bad WHERE s = (SELECT string(max(k)) FROM small WHERE b = id)", "int(u.s)"), 0)
      for (guard <- Seq("s RLIKE '^[0-9]+$'", "s LIKE '%1%3%'", "array_join(array(s), '') = '13'")) {
        val computed = s"SELECT s, $guard AS ok FROM bad" // Spark leaves a predicate over it above
        checkBuilt(joined(s"SELECT s FROM ($computed) WHERE ok", "int(u.s)"), 1)
      }
      sql("CACHE TABLE kept AS SELECT * FROM bad")
      try
        checkBuilt(joined("SELECT * FROM kept WHERE id > 0", "int(u.s)"), 1, Whole)
      finally sql("UNCACHE TABLE kept")
    }
  }
}
