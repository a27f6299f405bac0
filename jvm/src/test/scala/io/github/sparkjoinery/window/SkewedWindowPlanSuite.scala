package io.github.sparkjoinery.window

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Window}
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.joinery.ScarceMemory

import io.github.sparkjoinery.Answers
import io.github.sparkjoinery.window.exec.CopyRowsExec

/**
 * Plans of windows whose hot keys are cut into parts: the cuts, their place in the plan, and windows that are not cut.
 */
class SkewedWindowPlanSuite extends SkewedWindowChecks {

  test("a filter by the keys goes below a window with a hint, as below any") {
    load(3000, Ties)
    withHint {
      val windows = s"SELECT /*+ SKEW_WINDOW(4) */ id, k, lag(v) OVER $Unique AS f FROM d"
      val filtered = sql(s"SELECT id, f FROM ($windows) WHERE k = 1")
      val above = filtered.asInstanceOf[org.apache.spark.sql.joinery.DataFrame].queryExecution.optimizedPlan.collect {
        case Filter(condition, child)
            if condition.references.exists(_.name == "k") && child.exists(_.isInstanceOf[Window]) => child
      }
      assert(above.isEmpty)
      filtered.collect()
      assert(hotKeys(filtered).nonEmpty)
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

  test("hints of two windows that nothing reads") {
    load(300, Ties)
    val inner = s"SELECT /*+ SKEW_WINDOW(2) */ id, k, sum(v) OVER $Unique AS v FROM d"
    val query =
      s"SELECT count(*) FROM (SELECT /*+ SKEW_WINDOW(2) */ id, sum(v) OVER (PARTITION BY k ORDER BY id) FROM ($inner))"
    assert(Answers.rows(sql(query)) == Seq("(300)"))
  }

  test("a key that has the hash of another") {
    val twin = 7997738013315500161L // the hash of NULL is the seed
    assert(sql(s"SELECT xxhash64(${twin}L), xxhash64(CAST(NULL AS BIGINT))").head() == Row(42L, 42L))
    load(1600, Ties, s"CASE id % 3 WHEN 0 THEN ${twin}L WHEN 1 THEN NULL ELSE if(id % 10 = 2, id, 8L) END")
    withHint(for (parts <- Seq(2, 4))
      checkSplit(over(Functions, Unique, "ROWS BETWEEN 40 PRECEDING AND 3 FOLLOWING"), Some(parts)))
  }

  test("the plan says which parts there are, and which rows were copied for them") {
    load(3000, "int(id)")
    withHint {
      val answer = sql(select(over(Seq("sum(v)"), Unique, "ROWS 10 PRECEDING"), Some(4), "d"))
      answer.collect()
      assert(isSliding(answer))
      assert(plan(answer).toString.contains("4 parts by a sample"))
      val rows = collect(plan(answer)) { case rows: CopyRowsExec => rows.metrics("numCopies").value }
      // 10 copies over each of 3 cuts or more, and at most an eighth more
      assert(rows.length == 1 && rows.head >= 30 && rows.head <= 12 * 8, rows)
      checkDecision(select(moving, Some(4), "d"), "hot keys cut into 4 parts by a sample")
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

  test("SKEW_WINDOW(1) forbids it; so does the switch of the operator") {
    load(3000, Ties)
    withHint {
      checkSplit(moving, None, split = false)
      checkSplit(moving, Some(1), split = false)
      withConf("spark.joinery.slidingWindow.enabled" -> "false")(checkSplit(moving, Some(4), split = false))
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
      def checkWhole(column: String, from: String, reason: String): Unit = {
        checkSplit(Seq(column), Some(4), from, split = false)
        checkDecision(select(Seq(column), Some(4), from), s"hot keys not cut: $reason")
      }
      for ((column, reason) <- Seq(
          s"sum(v) OVER (PARTITION BY k ORDER BY o, id $Growing)" -> "a frame begins with its partition",
          s"row_number() OVER $Unique" -> "a frame begins with its partition",
          "sum(v) OVER (PARTITION BY k ORDER BY o, id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)" -> "a frame ends with its partition",
          "sum(v) OVER (PARTITION BY k ORDER BY s, id ROWS 2 PRECEDING)" -> "its first ORDER BY column is of type STRING",
          "sum(v) OVER (PARTITION BY k)" -> "it has no ORDER BY"
        )) checkWhole(column, "d", reason)
      val readTwice = "the rows would have to be computed twice"
      for ((from, reason) <- Seq(
          "d_shuffled" -> readTwice,
          "d WHERE id < (SELECT count(*) FROM d)" -> readTwice,
          "(SELECT DISTINCT * FROM d)" -> readTwice,
          "(SELECT * FROM d ORDER BY id LIMIT 50)" -> readTwice
        )) checkWhole(moving.head, from, reason)
      withConf("spark.sql.adaptive.enabled" -> "false")(checkWhole(moving.head, "d", "adaptive execution is off"))
    }
  }

  test("rows that may be others when they are read twice are cut by time, not by number") {
    val rows = sql("SELECT int(id) AS id, int(id % 7) AS v, if(id < 0, 1, 0) AS k, id AS o FROM range(0, 1000, 1, 4)")
    spark.createDataFrame(rows.rdd, rows.schema).createOrReplaceTempView("r")
    withHint {
      checkSplit(moving.take(1), Some(4), "r", split = false)
      checkDecision(select(moving.take(1), Some(4), "r"), "hot keys not cut: its rows are counted first")
      checkSplit(over(Seq("sum(v)"), Single, "RANGE 40 PRECEDING"), Some(4), "r")
    }
  }

  test("LIMIT above a window without PARTITION BY takes its first rows") {
    load(3000, "id")
    val column = "sum(v) OVER (ORDER BY o ROWS 5 PRECEDING)"
    withHint {
      for (query <- Seq(
          "SELECT %s FROM d LIMIT 5",
          "SELECT * FROM (SELECT %s FROM d) WHERE c0 IS NOT NULL LIMIT 5",
          "SELECT * FROM (SELECT %s FROM d) LIMIT 5 OFFSET 2"
        )) {
        val text = query.format(s"/*+ SKEW_WINDOW(8) */ id, $column AS c0")
        checkWindow(text)
      }
      checkDecision(select(Seq(column), Some(8), "d LIMIT 5"), "hot keys not cut: LIMIT takes the first rows")
    }
  }

  test("equal cuts of one query are shuffled once") {
    load(2000, Ties)
    withHint {
      val functions = Seq("sum(v)", "min(v)", "count(v)")
      def part(function: String, id: String, frame: String) =
        s"SELECT /*+ SKEW_WINDOW(4) */ $id AS id, $function OVER ${Unique.stripSuffix(")")} ROWS $frame) AS f FROM d"
      for ((frames, shuffles) <- Seq(Seq.fill(3)("9 PRECEDING") -> 1, Seq("9 PRECEDING", "7 PRECEDING") -> 2)) {
        val text = frames.zipWithIndex
          .map { case (frame, i) => part(functions(i), s"id + ${10000 * i}", frame) }.mkString(" UNION ALL ")
        checkWindow(text)
        val answer = sql(text)
        answer.collect()
        assert(hotKeys(answer).nonEmpty)
        val reused = collect(plan(answer)) { case reused: ReusedExchangeExec => reused }.length
        assert(reused == frames.length - shuffles, plan(answer))
      }
    }
  }

  test("a thousand parts of a hot key take memory for the rows of their halos, and no more") {
    load(3000, "int(id)")
    withHint {
      val text = select(over(Seq("sum(v)"), Unique, "ROWS 3 PRECEDING"), Some(1024), "d")
      val peak = ScarceMemory.peakOfTasks(spark)(checkWindow(text))
      assert(peak > 0 && peak < (64L << 20), s"$peak bytes")
    }
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
          checkDecision(select(counts(by), Some(4), "d"), "an offset that is no finite number")
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

  test("RANGE by days and months in any time zone") {
    def range(by: String) = over(Seq("count(*)"), Single, s"RANGE BETWEEN CURRENT ROW AND $by FOLLOWING")
    load(1500, "timestamp_seconds(id * 40000)")
    withHint(withConf("spark.sql.session.timeZone" -> "America/New_York") {
      checkSplit(range("INTERVAL '2' DAY"), Some(4))
      checkSplit(range("INTERVAL '1' MONTH"), Some(2))
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
