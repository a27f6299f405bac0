package io.github.sparkjoinery.planning.plans

import io.github.sparkjoinery.LastJoinChecks

/** Both sides of a join by parts have the same parts, for any order of the rows that the cuts are computed from. */
class PartsByQuantilesSuite extends LastJoinChecks {

  private val Catalog = "spark.sql.catalog.restless"

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.conf.set(Catalog, classOf[RestlessCatalog].getName)
    views(
      "times" -> "SELECT id AS t FROM range(0, 20000, 1, 2)",
      "restless" -> "SELECT t FROM restless.any.table",
      // Both shuffles of the counts are the same, so Spark changes the plan of the subquery once more to reuse one.
      "counts" -> "SELECT t, count(*) AS c FROM times GROUP BY t",
      "restless_and_more" -> ("SELECT t FROM restless.any.table UNION ALL " +
        "SELECT a.t FROM counts a JOIN counts b ON a.t = b.t WHERE a.c + b.c > 2")
    )
  }

  override protected def afterAll(): Unit = {
    super.afterAll()
    spark.conf.unset(Catalog)
  }

  private val Settings = Seq(
    "spark.sql.adaptive.enabled" -> "true",
    "spark.sql.execution.reuseSubquery" -> "false",
    "spark.sql.autoBroadcastJoinThreshold" -> "-1",
    "spark.joinery.rangeJoin.maxBroadcast" -> "1",
    "spark.sql.shuffle.partitions" -> "4"
  )

  /** Each of the 20000 rows finds its match. */
  private def check(query: String, operator: String): Unit = {
    val joined = sql(query)
    assert(joined.collect().head.toSeq == Seq(20000L, 20000L), plan(joined))
    assert(operators(joined).contains(operator), plan(joined))
    checkSerializable(joined)
  }

  for (table <- Seq("restless", "restless_and_more")) {

    test(s"LAST JOIN without a key: $table") {
      withConf(Settings: _*)(check(
        s"SELECT count(*), count_if(r.t = l.t) FROM times AS l LAST JOIN $table r ORDER BY r.t ON r.t <= l.t",
        "CarryOver"))
    }

    for (join <- Seq("JOIN", "LEFT JOIN"))
      test(s"range $join in parts: $table") {
        withConf(Settings: _*)(check(
          s"SELECT count(*), count(s.lo) FROM $table p $join (SELECT t AS lo, t + 1 AS hi FROM times) s " +
            "ON p.t >= s.lo AND p.t < s.hi",
          "ShuffledRangeJoin"
        ))
      }
  }
}
