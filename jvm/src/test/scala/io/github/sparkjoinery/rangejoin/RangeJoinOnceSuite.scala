package io.github.sparkjoinery.rangejoin

import java.util.concurrent.ThreadLocalRandom

import org.apache.spark.sql.functions.udf
import org.apache.spark.storage.StorageLevel

import io.github.sparkjoinery.rangejoin.runtime.RangeJoin

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
    test(s"an outer join does not read a side twice whose rows are drawn again, adaptive execution $adaptive") {
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

  // No test session has memory outside the heap: no block of such a cache is ever kept, and each reading computes it.
  private val WithoutRoom =
    StorageLevel(useDisk = false, useMemory = true, useOffHeap = true, deserialized = false, replication = 1)

  /** Runs `body` with a view `kept`, a cache of a view that has no room for its rows. */
  private def withCached(view: String)(body: => Unit): Unit = {
    val cached = spark.table(view).persist(WithoutRoom)
    try {
      cached.count()
      cached.createOrReplaceTempView("kept")
      body
    } finally cached.unpersist()
  }

  test("an outer join does not read a cache twice that has lost its blocks, of rows that are drawn again") {
    val range = "r.x BETWEEN l.lo AND l.hi"
    withCached("r") {
      for (adaptive <- Seq("true", "false")) withConf("spark.sql.adaptive.enabled" -> adaptive) {
        for (hint <- Seq("", "/*+ BROADCAST(l) */")) {
          val left = checkWhole(s"SELECT $hint lid, x FROM l LEFT JOIN kept r ON $range")
          assert(left.contains("BroadcastRangeJoin LeftOuter, BuildRight indexed"), left)
          val turned = checkWhole(s"SELECT $hint lid, x FROM kept r RIGHT JOIN l ON l.k = r.k AND $range")
          assert(turned.contains("BroadcastRangeJoin RightOuter, BuildLeft indexed"), turned)
          val full = checkWhole(s"SELECT $hint lid, x FROM l FULL JOIN kept r ON l.k = r.k AND $range")
          assert(full.contains("ShuffledRangeJoin FullOuter"), full)
        }
      }
      // a cache of a cache
      val outer = spark.table("kept").where("x >= 0").persist(WithoutRoom)
      try {
        outer.createOrReplaceTempView("outer_cache")
        val plan = checkWhole(s"SELECT lid, x FROM l LEFT JOIN outer_cache r ON $range")
        assert(plan.contains("BroadcastRangeJoin LeftOuter, BuildRight indexed"), plan)
      } finally outer.unpersist()
    }
  }

  test("a local checkpoint of rows that are drawn is read twice, as it has no other rows") {
    spark.table("r").localCheckpoint().createOrReplaceTempView("kept")
    val plan = checkWhole("SELECT lid, x FROM l LEFT JOIN kept r ON r.x BETWEEN l.lo AND l.hi")
    assert(plan.contains("BroadcastRangeJoin LeftOuter, BuildLeft indexed"), plan)
  }

  test("a cache of rows that are the same when they are computed again is read twice where that is cheaper") {
    withCached("counted") {
      for (adaptive <- Seq("true", "false")) withConf("spark.sql.adaptive.enabled" -> adaptive) {
        val (query, _) = checkedRangeJoin("SELECT lid, x, n FROM l LEFT JOIN kept r ON r.x BETWEEN l.lo AND l.hi")
        assert(plan(query).toString.contains("BroadcastRangeJoin LeftOuter, BuildLeft indexed"), plan(query))
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
