package io.github.sparkjoinery.filters.built

/** Smallest and largest values of keys, and the readers of files that are told of them. */
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
          "spark.sql.adaptive.enabled" -> "false" // which would leave out a join of no rows
        )
      }
      checkBuilt(
        "SELECT /*+ RUNTIME_FILTER(s) */ s.t, m.k FROM micros s LAST JOIN millis m ORDER BY m.t ON m.k = s.k AND m.t < s.t",
        1)
    }
  }
}
