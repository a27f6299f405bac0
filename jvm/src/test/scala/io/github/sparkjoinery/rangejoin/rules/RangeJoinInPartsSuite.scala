package io.github.sparkjoinery.rangejoin.rules

import org.apache.spark.SparkEnv

import io.github.sparkjoinery.rangejoin.EventsAndSpans
import io.github.sparkjoinery.rangejoin.exec.{BroadcastRangeJoinExec, SortForRangeIndexExec}
import io.github.sparkjoinery.{OnDefaultLine, Pairwise}

/** Joins by a range where no side is small: indexed by each task for itself, or cut into parts of the range. */
class RangeJoinInPartsSuite extends EventsAndSpans {

  test("an index too large to broadcast: rows stay in the order of the streamed side") {
    for (conf <- Seq(Generated, Interpreted); join <- Seq("JOIN", "LEFT JOIN", "LEFT SEMI JOIN"))
      withConf(conf ++ Seq(
        "spark.joinery.rangeJoin.maxBroadcast" -> "1",
        "spark.joinery.rangeJoin.maxIndexPart" -> "1",
        "spark.sql.autoBroadcastJoinThreshold" -> "-1"): _*) {
        val events =
          "(SELECT a.id, a.x FROM (SELECT * FROM events UNION ALL SELECT * FROM events) a JOIN events b ON a.id = b.id) e"
        val many = "(SELECT id AS sid, x AS lo, x + 9 AS hi FROM events) s"
        val query = sql(s"SELECT /*+ BROADCAST(s) */ e.id FROM $events $join $many ON e.x BETWEEN s.lo AND s.hi")
        val rows = query.asInstanceOf[org.apache.spark.sql.joinery.DataFrame].rdd.glom().collect()
        assert(rows.map(_.length).sum > 900 && rows.forall(part =>
          part.map(_.getLong(0)).sameElements(part.map(_.getLong(0)).sorted)))
        assert(
          collectFirst(plan(query)) { case join: BroadcastRangeJoinExec => join.outputOrdering }.exists(_.nonEmpty))
      }
  }

  private val Joins = Seq("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")

  for ((join, number) <- Joins.zipWithIndex; indexed <- Seq("e", "s"))
    test(s"$join: an index of $indexed that proves too large to broadcast is built in the tasks, in parts") {
      val settings = Seq(("true", "1", Generated), ("false", "1GB", Generated), ("false", "1", Interpreted))
      val left = (number + Seq("e", "s").indexOf(indexed)) % settings.length // which the other side has
      for (((adaptive, part, conf), i) <- settings.zipWithIndex if Pairwise.isSoak || i != left)
        withConf(conf ++ Seq(
          "spark.joinery.rangeJoin.maxBroadcast" -> "1",
          "spark.joinery.rangeJoin.maxIndexPart" -> part,
          "spark.sql.adaptive.enabled" -> adaptive): _*) {
          val text =
            s"""SELECT /*+ BROADCAST($indexed) */ * FROM (SELECT id, x, k FROM events UNION ALL SELECT id + 1000, NULL, k FROM events) e $join
           |(SELECT id AS sid, lo, hi FROM spans UNION ALL SELECT id, hi + 1000, lo FROM spans) s
           |ON e.x BETWEEN s.lo AND s.hi AND e.id % 7 <> s.sid""".stripMargin
          checkRangeJoin(text)
          val summed = s"SELECT count(*), sum(id + 1) FROM ($text)" // puts generated code above the join
          val query = sql(summed)
          assert(query.collect().sameElements(asOracle(sql(summed).collect())))
          val metrics = collectFirst(plan(query)) { case join: BroadcastRangeJoinExec => join }.get.metrics
          assert(metrics("indexParts").value > 0, plan(query))
        }
    }

  test("where an index proves too large, adaptive execution does not take the join for a small one") {
    sql("SELECT id, concat('about ', id) AS about FROM range(0, 100000, 1, 2)").createOrReplaceTempView("details")
    withConf(
      "spark.sql.adaptive.enabled" -> "true",
      "spark.sql.autoBroadcastJoinThreshold" -> "15KB",
      "spark.joinery.rangeJoin.maxBroadcast" -> "1") {
      val joined =
        "SELECT /*+ BROADCAST(s) */ e.id * s.id AS id FROM events e JOIN spans s ON e.x BETWEEN s.lo AND s.hi + 1000"
      val text = s"SELECT count(*), max(d.about) FROM ($joined) j JOIN details d ON j.id = d.id"
      val query = sql(text)
      assert(query.collect().sameElements(asOracle(sql(text).collect())))
      assert(operators(query).contains(Broadcast) && !operators(query).contains("BroadcastHashJoin"), plan(query))
    }
  }

  test("a side that tasks cannot send to the driver is not collected", OnDefaultLine) {
    val most = "spark.driver.maxResultSize"
    val ranges = "(SELECT id AS lo, id + 1 AS hi, sha2(string(id), 512) AS s FROM range(0, 20000, 1, 4)) r"
    val points = "(SELECT id % 20000 AS x, id FROM range(0, 60000, 1, 4)) p"
    for ((adaptive, join) <- Seq("true" -> "LEFT JOIN", "false" -> "JOIN")) withConf(
      "spark.sql.adaptive.enabled" -> adaptive,
      "spark.sql.autoBroadcastJoinThreshold" -> "-1") {
      SparkEnv.get.conf.set(most, "1m")
      try {
        val query = sql(
          s"SELECT count(*), sum(length(r.s)), sum(p.id) FROM $points $join $ranges ON p.x BETWEEN r.lo AND r.hi")
        assert(query.collect().head.toSeq == Seq(119997L, 119997L * 128, 3599880000L), plan(query))
        val operator = collectFirst(plan(query)) { case join: BroadcastRangeJoinExec => join }.get
        assert(operator.metrics("indexParts").value > 0, plan(query))
      } finally SparkEnv.get.conf.remove(most)
    }
  }

  test("tasks with little memory put the rows of an index in order a part at a time") {
    val many = "(SELECT a.id * 40 + b.id AS sid, a.lo + b.id AS lo, a.hi + b.id AS hi, repeat(a.name, 20) AS name " +
      "FROM spans a CROSS JOIN spans b) s"
    for ((part, adaptive, join) <- Seq(("1", "true", "FULL JOIN"), ("1", "false", "JOIN"), ("1GB", "true", "JOIN")))
      withConf(
        "spark.joinery.rangeJoin.maxIndexPart" -> part,
        "spark.sql.adaptive.enabled" -> adaptive) {
        val text = s"SELECT /*+ BROADCAST(s) */ * FROM events e $join $many ON e.x BETWEEN s.lo AND s.hi AND e.id < 60"
        checkRangeJoin(text)
        val query = sql(text)
        query.collect()
        val runs = collectFirst(plan(query)) { case side: SortForRangeIndexExec => side.metrics("runs").value }.get
        assert(if (part == "1") runs > 4 else runs > 0 && runs <= 4, runs)
      }
  }

  test("without an equality and a small side, the range is cut into parts") {
    val partitions = "spark.sql.shuffle.partitions"
    val codes = Map("generated" -> Generated, "interpreted" -> Interpreted)
    val queries = Seq(
      "SELECT * FROM events e {join} spans s ON e.x BETWEEN s.lo AND s.hi AND e.id <> s.id",
      "SELECT * FROM events e {join} spans s ON e.x >= s.hi AND e.x < s.lo + 40",
      "SELECT * FROM spans s {join} events e ON e.x BETWEEN s.lo AND s.hi AND e.k = 1",
      "SELECT * FROM events e {join} spans s ON e.ts < s.te AND s.ts - INTERVAL 1 HOUR < e.ts + INTERVAL 10 MINUTES"
    )
    for (chosen <- Pairwise.cases(
        "join" -> Joins,
        "query" -> queries,
        partitions -> Seq("2", "7", "40"),
        "code" -> codes.keys.toSeq.sorted)) withConf(codes(chosen("code")) ++ Seq(
      "spark.joinery.rangeJoin.maxBroadcast" -> "1",
      partitions -> chosen(partitions)): _*) {
      withClue(s"$chosen\n")(checkRangeJoin(chosen("query").replace("{join}", chosen("join")), Shuffled))
    }
  }

  test("cut into parts, beside a column that a side has twice") {
    val events = "(SELECT x, x, id FROM events) e"
    val spans = "(SELECT lo AS rlo, hi AS rhi, k, k FROM spans) s"
    val range = "e.x BETWEEN s.rlo AND s.rhi"
    withConf(Interpreted ++ Seq(
      "spark.joinery.rangeJoin.maxBroadcast" -> "1",
      "spark.sql.shuffle.partitions" -> "5"): _*) {
      for (join <- Joins)
        checkRangeJoin(s"SELECT * FROM $events $join $spans ON $range".replace("e.x", "e.id"), Shuffled)
      for (join <- Joins)
        checkRangeJoin(s"SELECT * FROM $spans $join $events ON $range".replace("e.x", "e.id"), Shuffled)
    }
  }

  test("differences are cut into parts, and those that may overflow are in all") {
    val ints = IntsWithEnds
    withConf(Interpreted ++ Seq(
      "spark.joinery.rangeJoin.maxBroadcast" -> "1",
      "spark.sql.shuffle.partitions" -> "5",
      "spark.sql.ansi.enabled" -> "false"): _*) {
      for (join <- Seq("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT ANTI JOIN")) {
        for (condition <- Seq("a.x - b.x BETWEEN -20 AND 20", "abs(b.x - a.x) < 10"))
          checkRangeJoin(s"SELECT * FROM VALUES $ints AS a(x) $join VALUES $ints AS b(x) ON $condition", Shuffled)
        for (condition <- Seq(
            "e.ts - s.ts BETWEEN INTERVAL 0 SECONDS AND INTERVAL 10 MINUTES",
            "abs(CAST(e.x AS FLOAT) / 3 - s.lo / 3.0F) <= 1.2F",
            "abs(datediff(e.d, s.ts)) <= 1"))
          checkRangeJoin(s"SELECT * FROM events e $join spans s ON $condition", Shuffled)
      }
      withConf("spark.sql.ansi.enabled" -> "true")(checkRangeJoin(
        s"SELECT * FROM VALUES $ints AS a(x) JOIN VALUES $ints AS b(x) ON a.x - b.x BETWEEN -20 AND 20",
        Shuffled))
    }
  }

  test("parts of a range: the point may be on either side, a term that fails has all parts, NULL has none") {
    withConf("spark.joinery.rangeJoin.maxBroadcast" -> "1", "spark.sql.shuffle.partitions" -> "9") {
      checkRangeJoin("SELECT * FROM spans s RIGHT JOIN events e ON e.x BETWEEN s.lo AND s.hi", Shuffled)
      val some =
        "(SELECT id, if(id = 3, 2147483647, if(id % 7 = 0, NULL, lo)) AS lo, if(id % 9 = 0, NULL, hi) AS hi FROM spans) s"
      for (ansi <- Seq("true", "false")) withConf("spark.sql.ansi.enabled" -> ansi) {
        checkRangeJoin(s"SELECT * FROM events e LEFT JOIN $some ON e.x BETWEEN s.lo + 1 AND s.hi", Shuffled)
        checkRangeJoin(
          s"SELECT * FROM events e LEFT JOIN $some ON s.id <> 3 AND e.x BETWEEN s.lo + 1 AND s.hi",
          Shuffled)
        for (join <- Seq("RIGHT JOIN", "FULL JOIN"); first <- Seq("s.id <> 3", "e.id <> s.id"))
          checkRangeJoin(s"SELECT * FROM events e $join $some ON $first AND e.x BETWEEN s.lo + 1 AND s.hi", Shuffled)
        checkRangeJoin(
          s"SELECT s.id, EXISTS (SELECT 1 FROM events e WHERE e.x BETWEEN s.lo + 1 AND s.hi) AS found FROM $some",
          Shuffled)
      }
      val text = java.nio.file.Files.createTempDirectory("text").resolve("data").toString
      spark.table("spans").write.json(text)
      for (kept <- Seq("FULL JOIN", "RIGHT JOIN");
        side <- Seq("(SELECT * FROM spans LIMIT 30) s", "(SELECT *, rand() AS r FROM spans) s", s"json.`$text` s"))
        checkLeftToSpark(
          s"SELECT * FROM events e $kept $side ON e.x BETWEEN s.lo AND s.hi",
          "so that both sides are read twice, and one may have other rows by then")
      val cached = sql("SELECT id, x, rand() AS r FROM events").persist()
      try {
        cached.createOrReplaceTempView("cached")
        checkLeftToSpark(
          "SELECT * FROM cached e RIGHT JOIN spans s ON e.x BETWEEN s.lo AND s.hi",
          "so that both sides are read twice, and one may have other rows by then")
      } finally cached.unpersist()
      checkLeftToSpark(
        "SELECT * FROM (SELECT DISTINCT lo, hi FROM spans) s LEFT SEMI JOIN events e ON e.x BETWEEN s.lo AND s.hi",
        "a task that runs again may have them in another order"
      )
      checkLeftToSpark("SELECT * FROM events e JOIN spans s ON e.x < s.lo", "not cut into parts: two comparisons")
      withConf("spark.sql.adaptive.enabled" -> "false")(checkLeftToSpark(
        "SELECT * FROM events e JOIN spans s ON e.x BETWEEN s.lo AND s.hi",
        "not cut into parts: adaptive execution is off"))
    }
  }
}
