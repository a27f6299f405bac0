package io.github.sparkjoinery.rangejoin

import java.util.concurrent.ThreadLocalRandom

import org.apache.spark.sql.functions.udf

/** Outer joins with a side that has other rows each time it is read. */
class RangeJoinOnceSuite extends RangeJoinChecks {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.udf.register("drawn", udf { (_: Long) => ThreadLocalRandom.current.nextInt(1000000) }.asNondeterministic())
    views(
      "l" -> "SELECT id AS lid, id % 3 AS k, id * 70 AS lo, id * 70 + 40 AS hi FROM range(0, 1000, 1, 2)",
      "r" -> "SELECT id, id % 3 AS k, drawn(id) AS x FROM range(0, 20000, 1, 2)",
      "shuffled" -> "SELECT id, k, CAST(rand(3) * 1000000 AS INT) AS x FROM (SELECT /*+ REPARTITION(3) */ * FROM range(0, 20000, 1, 2) r(id), VALUES (1) t(k))",
      "counted" -> "SELECT id * 7 AS x, count(*) AS n FROM range(0, 20000, 1, 2) GROUP BY id * 7"
    )
  }

  override protected def oracleSettings: Seq[(String, String)] = Generated

  /** Each row of `l` is there, and not both with a match and without one. */
  private def checkWhole(join: String): String = {
    val query = sql(
      s"SELECT count(lid), count_if(lid >= 0 AND (found = 0 OR found = n)) FROM (SELECT lid, count(*) AS n, count(x) AS found FROM ($join) GROUP BY lid)")
    val found = query.head()
    assert(found.getLong(0) == 1000 && found.getLong(1) == 1000, s"$found\n$join\n${plan(query)}")
    plan(query).toString
  }

  for (adaptive <- Seq("true", "false"))
    test(s"an outer join does not read a side twice whose rows are drawn anew, adaptive execution $adaptive") {
      val range = "r.x BETWEEN l.lo AND l.hi"
      withConf("spark.sql.adaptive.enabled" -> adaptive) {
        for ((right, hint) <- Seq("r" -> "", "shuffled" -> "", "r" -> "/*+ BROADCAST(l) */")) {
          val left = checkWhole(s"SELECT $hint lid, x FROM l LEFT JOIN $right r ON $range")
          assert(left.contains("BroadcastRangeJoin LeftOuter, BuildRight indexed"), left)
          val turned = checkWhole(s"SELECT $hint lid, x FROM $right r RIGHT JOIN l ON $range")
          assert(turned.contains("BroadcastRangeJoin RightOuter, BuildLeft indexed"), turned)
          val keyed = checkWhole(s"SELECT $hint lid, x FROM l LEFT JOIN $right r ON l.k = r.k AND $range")
          assert(keyed.contains("BroadcastRangeJoin LeftOuter, BuildRight indexed"), keyed)
          val full = checkWhole(s"SELECT $hint lid, x FROM l FULL JOIN $right r ON l.k = r.k AND $range")
          assert(full.contains("ShuffledRangeJoin FullOuter"), full)
        }
        withConf("spark.joinery.rangeJoin.maxBroadcast" -> "100000") {
          val text = s"SELECT lid, x FROM l LEFT JOIN r ON $range"
          checkLeftToSpark(text, "would be read twice, and may have other rows by then")
          checkWhole(text)
        }
      }
    }

  test("an outer join does not read an RDD twice, which may have other rows each time") {
    val drawn =
      spark.sparkContext.range(0, 20000, 1, 2).map(id => (id, id % 3, ThreadLocalRandom.current.nextInt(1000000)))
    spark.createDataFrame(drawn).toDF("id", "k", "x").createOrReplaceTempView("of_rdd")
    for (adaptive <- Seq("true", "false")) withConf("spark.sql.adaptive.enabled" -> adaptive) {
      for (hint <- Seq("", "/*+ BROADCAST(l) */")) {
        val plan =
          checkWhole(s"SELECT $hint lid, x FROM l LEFT JOIN of_rdd r ON l.k = r.k AND r.x BETWEEN l.lo AND l.hi")
        assert(plan.contains("RangeJoin LeftOuter") && !plan.contains("BuildLeft"), plan)
      }
    }
  }

  test("a side that has the same rows again is read twice where that is cheaper") {
    for (adaptive <- Seq("true", "false")) withConf("spark.sql.adaptive.enabled" -> adaptive) {
      val (query, _) = checkedRangeJoin("SELECT lid, x, n FROM l LEFT JOIN counted r ON r.x BETWEEN l.lo AND l.hi")
      assert(plan(query).toString.contains("BroadcastRangeJoin LeftOuter, BuildLeft indexed"), plan(query))
    }
  }
}
