package io.github.sparkjoinery.window

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Window}
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.joinery.ScarceMemory

import io.github.sparkjoinery.Answers
import io.github.sparkjoinery.window.parts.{CutAtRead, CutAtWrite, WindowPartsExec}

/** Windows whose hot keys are cut into parts: where they are cut, what the plan shows of it, and what is not cut. */
class SkewedWindowPlanSuite extends SkewedWindowChecks {

  test("before the shuffle where rows can be had twice and nothing is carried, else after it") {
    load(3000, Ties)
    withHint {
      def hinted(column: String, from: String) = cuts(sql(select(Seq(column), Some(4), from)))
      for (column <- over(Seq("sum(v)"), Unique, "ROWS 10 PRECEDING") ++ over(
          Seq("sum(v)"),
          Single,
          "RANGE 3 PRECEDING") :+ s"lag(v) OVER $Unique"; from <- Seq("d", "d WHERE v > 3 OR v IS NULL")) {
        assert(hinted(column, from).map(_.getClass) == Seq(classOf[CutAtWrite]), column)
        assert(hinted(column, from.replaceFirst("d", "d_shuffled")).map(_.getClass) == Seq(classOf[CutAtRead]), column)
      }
      for (column <- Seq(s"row_number() OVER $Unique") ++ over(Seq("sum(v)"), Unique, Growing) ++ over(
          Seq("sum(v)"),
          Unique,
          "ROWS 30000 PRECEDING"))
        assert(hinted(column, "d").map(_.getClass) == Seq(classOf[CutAtRead]), column)
      for (from <- Seq("d WHERE rand() < 0.99", "d WHERE id < (SELECT count(*) FROM d)", "(SELECT DISTINCT * FROM d)"))
        assert(hinted(s"lag(v) OVER $Unique", from).map(_.getClass) == Seq(classOf[CutAtRead]), from)
    }
  }

  test("a filter by the keys goes below a window with a hint, as below any") {
    load(3000, Ties)
    withHint {
      val windows = s"SELECT /*+ SKEW_WINDOW(4) */ id, k, lag(v) OVER $Unique AS f FROM d"
      val filtered = sql(s"SELECT id, f FROM ($windows) WHERE k = 1")
      val above = filtered.asInstanceOf[org.apache.spark.sql.classic.DataFrame].queryExecution.optimizedPlan.collect {
        case Filter(_, child) if child.exists(_.isInstanceOf[Window]) => child
      }
      assert(above.isEmpty)
      assert(cuts(filtered).map(_.getClass) == Seq(classOf[CutAtWrite]))
      val plain = windows.replace("/*+ SKEW_WINDOW(4) */", "")
      assert(Answers.rows(filtered) == Answers.rows(sql(s"SELECT id, f FROM ($plain) WHERE k = 1")))
    }
  }

  test("in a correlated subquery, which Spark could not take apart with the hint, it has no effect") {
    load(300, Ties)
    val query =
      s"SELECT e.id FROM d e WHERE e.v < (SELECT max(f) FROM (SELECT {} sum(v) OVER $Unique AS f FROM d WHERE d.v = e.v))"
    assert(Answers.rows(sql(query.replace("{}", "/*+ SKEW_WINDOW(4) */"))) == Answers.rows(sql(query.replace(
      "{}",
      ""))))
  }

  test("before the shuffle without adaptive execution, too; after it not") {
    load(3000, Ties)
    withHint(withConf("spark.sql.adaptive.enabled" -> "false") {
      checkSplitOf(moving, Some(4), "d", split = true)
      checkSplitOf(moving, Some(4), "d_shuffled", split = false)
    })
  }

  test("by a sample that the configuration asks for, where that pays") {
    load(3000, Ties)
    val near = over(Functions, Unique, "ROWS 2 PRECEDING")
    def range(frame: String) = over(Seq("sum(v)"), Single, s"RANGE $frame")
    withConf(Settings ++ Skewed ++ Seq(
      "spark.joinery.slidingWindow.skewSplit.sample.enabled" -> "true",
      "spark.joinery.slidingWindow.skewSplit.atRead.enabled" -> "false"): _*) {
      checkSplit(near, None)
      assert(cuts(sql(select(near, None, "d"))).map(_.getClass) == Seq(classOf[CutAtWrite]))
      assert(cuts(sql(select(near, Some(1), "d"))).isEmpty)
      assert(
        cuts(sql(select(over(Seq("lag(v)"), Unique, ""), None, "d"))).isEmpty,
        "a window that Spark computes as well")
      withConf("spark.sql.ansi.enabled" -> "true") {
        checkSplit(range("2 PRECEDING"), None)
        checkSplit(range("80 PRECEDING"), None, split = false) // most rows would have to be copied over the cuts
        checkSplit(range("80 PRECEDING"), Some(4))
      }
      checkSplit(
        over(Functions, Unique, "ROWS 20 PRECEDING"),
        None,
        split = false
      ) // as many as a good part of the key, by each task
      load(3000, Ties, key = "id % 50")
      checkSplit(near, None, split = false)
    }
  }

  test("not unasked where an operator above relies on the rows of a key being together") {
    load(3000, Ties)
    withConf(Settings ++ Skewed ++ Seq(
      "spark.joinery.slidingWindow.skewSplit.sample.enabled" -> "true",
      "spark.joinery.slidingWindow.skewSplit.atRead.enabled" -> "false",
      "spark.sql.autoBroadcastJoinThreshold" -> "-1"
    ): _*) {
      val inner = s"(SELECT id, k, o, ${moving.head} AS f FROM d)"
      for ((text, cut) <- Seq(
          s"SELECT id, f FROM $inner" -> true,
          s"SELECT k, sum(f) FROM $inner GROUP BY k" -> false,
          s"SELECT o, sum(f) FROM $inner GROUP BY o" -> true,
          s"SELECT id, sum(f) OVER (PARTITION BY k ORDER BY f, id ROWS 5 PRECEDING) FROM $inner" -> false,
          s"SELECT a.id, f, v FROM $inner AS a JOIN d ON a.k = d.k AND a.id = d.id" -> false,
          s"SELECT a.id, f, v FROM $inner AS a JOIN d ON a.id = d.id" -> true
        )) {
        assert(cuts(sql(text)).nonEmpty == cut, text)
        checkAnswerOfStock(text)
      }
    }
  }

  private def checkAnswerOfStock(text: String): Unit =
    assert(Answers.rows(sql(text)) == onStockWindows(Answers.rows(sql(text))), text)

  test("a key that has the hash of another") {
    val twin = 7997738013315500161L // the hash of NULL is the seed
    assert(sql(s"SELECT xxhash64(${twin}L), xxhash64(CAST(NULL AS BIGINT))").head() == Row(42L, 42L))
    load(1600, Ties, s"CASE id % 3 WHEN 0 THEN ${twin}L WHEN 1 THEN NULL ELSE if(id % 10 = 2, id, 8L) END")
    withHint(for (parts <- Seq(2, 4))
      checkSplit(over(Functions, Unique, "ROWS BETWEEN 40 PRECEDING AND 3 FOLLOWING"), Some(parts)))
  }

  test("the plan names the parts, and the rows copied for them") {
    load(3000, "int(id)")
    withHint {
      val answer = sql(select(over(Seq("sum(v)"), Unique, "ROWS 10 PRECEDING"), Some(4), "d"))
      answer.collect()
      val nodes = collect(plan(answer)) { case parts: WindowPartsExec => parts }
      assert(nodes.size == 1)
      val parts = nodes.head
      assert(parts.toString.contains("WindowParts cut into 4 by a sample, before the shuffle"))
      val copied = parts.metrics("copiedRows").value
      assert(
        copied >= 30 && copied <= 4 * 3 * 10 * 2,
        copied
      ) // of 4 tasks, 10 over each of 3 cuts, of one or two hot keys
      assert(parts.metrics("numOutputRows").value == 3000 + copied)
      checkDecision(select(moving, Some(4), "d"), "hot keys cut into 4 by a sample, before the shuffle")
      checkDecision(
        select(moving, Some(4), "d_shuffled"),
        "hot keys not cut before the shuffle: the rows would have to be computed twice")
    }
  }

  // not split

  private val moving = over(Functions, Unique, "ROWS 40 PRECEDING")

  test("a hint with nothing to split: no row, one row, no window") {
    load(3000, Ties)
    withHint {
      checkSplit(moving, Some(4), "d WHERE id < 0", split = false)
      checkWindow(select(moving, Some(4), "d WHERE id = 7"))
      assert(sql("SELECT /*+ SKEW_WINDOW(4) */ id FROM d").count() == 3000)
    }
  }

  test("SKEW_WINDOW(1) forbids it; so does the switch, and a partition that is small") {
    load(3000, Ties)
    withSkew {
      checkSplit(moving, None)
      checkSplit(moving, Some(1), split = false)
      withConf("spark.joinery.slidingWindow.skewSplit.atRead.enabled" -> "false")(checkSplit(
        moving,
        None,
        split = false))
      withConf(
        "spark.joinery.skewSplit.minPartition" -> "64MB",
        "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes" -> "64MB")(
        checkSplit(moving, None, split = false))
    }
  }

  for (arguments <- Seq("", "(0)", "(-1)", "('four')", "(1.5)", "(2, 3)", "(d)", "(1000000)"))
    test(s"an error: SKEW_WINDOW$arguments") {
      load(10, "int(id)")
      val error =
        intercept[Exception](sql(s"SELECT /*+ SKEW_WINDOW$arguments */ id, sum(v) OVER $Unique AS f FROM d").collect())
      assert(error.getMessage.contains("SKEW_WINDOW") && error.getMessage.contains("number"), error)
    }

  test("a window that cannot be cut: the reason, and Spark's answer") {
    load(1500, Ties)
    withHint {
      for ((column, reason) <- Seq(
          "sum(v) OVER (PARTITION BY k ORDER BY o, id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)" -> "to the end of its partition",
          "sum(v) OVER (PARTITION BY k ORDER BY s, id ROWS 2 PRECEDING)" -> "its first ORDER BY column is of type STRING",
          "first(v) OVER (PARTITION BY k ORDER BY o, id)" -> "depends on the order of rows",
          "sum(v) OVER (PARTITION BY k)" -> "no ORDER BY"
        )) {
        checkSplit(Seq(column), Some(4), split = false)
        checkDecision(select(Seq(column), Some(4), "d"), reason)
      }
    }
  }

  for (adaptive <- Seq("true", "false"))
    test(s"LIMIT above a window without PARTITION BY reads its first rows, not those that fail, adaptive $adaptive") {
      // The rows without o come first and have no frame to compute; for any other its beginning overflows.
      val limited = Seq(
        "SELECT %s FROM %s LIMIT 5",
        "SELECT * FROM (SELECT %s FROM %s LIMIT 5) LIMIT 100",
        "SELECT id, c0, count(*) FROM (SELECT %s FROM %s LIMIT 5) GROUP BY id, c0",
        "SELECT * FROM (SELECT %s FROM %s) WHERE c0 IS NOT NULL LIMIT 5",
        "SELECT DISTINCT * FROM (SELECT w.* FROM (SELECT %s FROM %s) w LATERAL VIEW explode(array(1, 2)) t AS e LIMIT 5)",
        "SELECT DISTINCT * FROM (SELECT w.* FROM (SELECT %s FROM %s) w CROSS JOIN (SELECT 1) LIMIT 5)",
        "SELECT DISTINCT * FROM (SELECT * FROM (SELECT %s FROM %s) UNION ALL SELECT 1, 2 LIMIT 5)",
        "SELECT * FROM (SELECT %s FROM %s) LIMIT 5 OFFSET 2"
      )
      load(3000, "if(id % 20 = 1, NULL, id)")
      val column =
        s"sum(v) OVER (ORDER BY o DESC NULLS FIRST RANGE BETWEEN ${Long.MaxValue} PRECEDING AND ${Long.MaxValue} PRECEDING)"
      withConf(Settings ++ Skewed ++ Seq(
        "spark.sql.ansi.enabled" -> "true",
        "spark.sql.adaptive.enabled" -> adaptive): _*) {
        for (from <- Seq("d", "d_shuffled"); parts <- Seq(None, Some(8)); query <- limited) {
          val hint = parts.fold("")(n => s"/*+ SKEW_WINDOW($n) */ ")
          val text = query.format(s"${hint}id, $column AS c0", from)
          assert(onStockWindows(sql(text).collect()).length == sql(text).collect().length, text)
        }
        intercept[ArithmeticException](sql(select(Seq(column), Some(8), "d")).collect())
        checkDecision(select(Seq(column), Some(8), "d LIMIT 5"), "not split: LIMIT takes the first rows")
      }
    }

  for (adaptive <- Seq("true", "false")) test(s"equal cuts of one query are shuffled once, adaptive $adaptive") {
    load(2000, Ties)
    withHint(withConf("spark.sql.adaptive.enabled" -> adaptive) {
      val functions = Seq("sum(v)", "min(v)", "count(v)")
      def part(function: String, id: String, frame: String) =
        s"SELECT /*+ SKEW_WINDOW(4) */ $id AS id, $function OVER ${Unique.stripSuffix(")")} ROWS $frame) AS f FROM d"
      for ((frames, shuffles) <- Seq(Seq.fill(3)("9 PRECEDING") -> 1, Seq("9 PRECEDING", "7 PRECEDING") -> 2)) {
        val text = frames.zipWithIndex
          .map { case (frame, i) => part(functions(i), s"id + ${10000 * i}", frame) }.mkString(" UNION ALL ")
        checkWindow(text)
        val answer = sql(text)
        answer.collect()
        assert(windows(answer).forall(_.metrics("splitParts").value >= 4))
        val reused = collect(plan(answer)) { case reused: ReusedExchangeExec => reused }.length
        assert(reused == frames.length - shuffles, plan(answer))
      }
    })
  }

  test("equal windows that are cut where they are read are computed once, below equal shuffles") {
    load(2000, Ties)
    withHint {
      val window = select(over(Seq("sum(v)", "count(*)"), Unique, Growing), Some(4), "d")
      val counted = s"SELECT id % 7 AS id, sum(c0) AS f, count(c1) AS n FROM ($window) GROUP BY id % 7"
      checkWindow(s"$counted UNION ALL SELECT id + 100, f, n FROM ($counted)")
      val twice = sql(s"$counted UNION ALL $counted")
      twice.collect()
      assert(windows(twice).map(_.metrics("splitParts").value >= 4) == Seq(true), plan(twice))
    }
  }

  test("a thousand parts of a hot key take memory for the rows of their halos, and no more") {
    load(3000, "int(id)")
    withHint(withConf("spark.sql.adaptive.enabled" -> "false") {
      val text = select(over(Seq("sum(v)"), Unique, "ROWS 3 PRECEDING"), Some(1024), "d")
      val peak = ScarceMemory.peakOfTasks(spark)(checkWindow(text))
      assert(peak > 0 && peak < (64L << 20), s"$peak bytes")
    })
  }

  test("RANGE offsets without end, and values at the ends of their types") {
    val Range = "RANGE BETWEEN CURRENT ROW AND x FOLLOWING"
    def counts(by: String) = over(Seq("count(*)", "sum(v)"), Single, Range.replace("x", by))
    withHint {
      for (number <- Seq("float", "double")) {
        load(
          1500,
          s"CASE WHEN id % 3 = 0 THEN $number('-Infinity') WHEN id % 5 = 0 THEN $number('NaN') " +
            s"ELSE $number(id % 50) END")
        for (by <- Seq("Infinity", "NaN").map(x => s"CAST('$x' AS $number)")) {
          checkSplit(counts(by), Some(4), split = false)
          checkDecision(select(counts(by), Some(4), "d"), "need not grow with the value")
        }
        checkSplit(counts(s"CAST(3 AS $number)"), Some(4))
      }
      for (last <- Seq(2147483647, -2147483648); by <- Seq("INTERVAL '40' DAY", "40", "INTERVAL '2' MONTH")) {
        load(1500, s"date_from_unix_date(if(id % 70 = 6, $last - int(sign($last) * (id % 7)), int(id % 60)))")
        for (order <- Seq("ASC", "DESC"); parts <- Seq(2, 4)) {
          val columns = over(Seq("count(*)"), Single.replace("o)", s"o $order)"), Range.replace("x", by))
          checkWindow(select(columns, Some(parts), "d"))
        }
      }
    }
  }

  test("RANGE by days in any time zone: the least interval, and zones without a name") {
    def range(by: String) = over(Seq("count(*)"), Single, s"RANGE BETWEEN CURRENT ROW AND $by FOLLOWING")
    load(1500, "timestamp_seconds(id * 40000)")
    withHint(withConf("spark.sql.session.timeZone" -> "America/New_York") {
      val least = range("INTERVAL '-106751991 04:00:54.775808' DAY TO SECOND")
        .map(_.replace("CURRENT ROW AND", "UNBOUNDED PRECEDING AND"))
      checkDecision(select(least, Some(4), "d"), "need not grow with the value")
      checkSplit(range("INTERVAL '2' DAY"), Some(4), split = false)
    })
    for (zone <- Seq("+8:00", "+08:00", "-3:30", "UTC+3", "Etc/GMT-2")) {
      withHint(withConf("spark.sql.session.timeZone" -> zone)(checkSplit(range("INTERVAL '2' DAY"), Some(4))))
    }
  }

  test("an operator above that relies on the partitioning") {
    load(2000, Ties)
    withHint {
      val text =
        "SELECT k AS id, sum(f) AS f, count(*) AS n FROM (SELECT /*+ SKEW_WINDOW(4) */ k, sum(v) OVER (PARTITION BY k ORDER BY o, id ROWS 3 PRECEDING) AS f FROM d) GROUP BY k"
      checkWindow(text)
    }
  }

  test("each hint for the windows of its own SELECT") {
    load(2000, Ties)
    withHint {
      val inner = s"(SELECT id, k, o, sum(v) OVER $Unique AS f FROM d)"
      checkWindow(
        s"SELECT /*+ SKEW_WINDOW(3) */ id, max(f) OVER (PARTITION BY k ORDER BY o, id ROWS 5 PRECEDING) AS g FROM $inner")
      checkWindow("SELECT id, f FROM (SELECT /*+ SKEW_WINDOW(3) */ id, sum(v) OVER (PARTITION BY k ORDER BY o, id ROWS 5 PRECEDING) AS f FROM d) WHERE f > 100")
    }
  }
}
