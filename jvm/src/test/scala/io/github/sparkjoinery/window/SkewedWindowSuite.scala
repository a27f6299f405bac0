package io.github.sparkjoinery.window

import scala.collection.mutable

import org.apache.spark.sql.execution.adaptive.AQEShuffleReadExec
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.{DataFrame, Row}

import io.github.sparkjoinery.Answers
import io.github.sparkjoinery.execution.skew.ForeignReadExec
import io.github.sparkjoinery.planning.PlanReport
import io.github.sparkjoinery.window.parts.{CutAtRead, CutAtWrite, WindowCuts, WindowPartsExec}

/**
 * Windows whose hot keys are cut into parts, by a hint or because they are skewed: the answer of Spark's own operator
 * over whole keys.
 */
class SkewedWindowSuite extends WindowChecks {

  private val Settings = Seq(
    "spark.sql.adaptive.enabled" -> "true",
    "spark.sql.shuffle.partitions" -> "5",
    "spark.sql.adaptive.coalescePartitions.enabled" -> "false",
    "spark.sql.ansi.enabled" -> "false"
  ) ++ // or the order of additions matters, in sums from the beginning on
    Interpreted
  private val Generated =
    Seq("spark.sql.codegen.wholeStage" -> "true", "spark.sql.codegen.factoryMode" -> "CODEGEN_ONLY")
  private val Skewed = Seq(
    "spark.sql.adaptive.advisoryPartitionSizeInBytes" -> "4KB",
    "spark.sql.adaptive.skewJoin.skewedPartitionFactor" -> "1.5",
    "spark.joinery.slidingWindow.skewSplit.atRead.enabled" -> "true",
    "spark.joinery.slidingWindow.skewSplit.minPartition" -> "2KB"
  )

  /** Nine rows out of ten have the key 0. */
  private val Hot = "if(id % 97 = 5, NULL, int(if(id % 10 < 9, 0, id % 11)))"
  private val Ties = "if(id % 31 = 3, NULL, int(pmod(hash(id), 90)))"

  /** Makes the view `d`. @param order SQL over `id` */
  private def load(rows: Int, order: String, key: String = Hot): Unit = {
    known.clear()
    sql(s"""SELECT int(id) AS id, $key AS k, $order AS o, if(id % 7 = 2, NULL, int(pmod(hash(id + 9), 100))) AS v,
           |if(id % 5 = 1, NULL, double(pmod(hash(id + 8), 40)) / 2) AS x, CAST(id % 13 AS DECIMAL(10, 2)) AS n, concat('s', id % 17) AS s, id % 3 = 1 AS p
           |FROM range(0, $rows, 1, 4)""".stripMargin).localCheckpoint().createOrReplaceTempView("d")
    sql("SELECT /*+ REPARTITION(3) */ * FROM d").createOrReplaceTempView(
      "d_shuffled"
    ) // whose rows no sample is taken of before the shuffle
  }

  /** Spark's answers over the present `d`. */
  private val known = mutable.Map.empty[String, Map[Any, Row]]

  private val Unique = "(PARTITION BY k ORDER BY o, id)"
  private val Single = "(PARTITION BY k ORDER BY o)"
  private def over(functions: Seq[String], window: String, frame: String): Seq[String] =
    functions.map(function => s"$function OVER ${window.stripSuffix(")")} $frame)")

  private val Filtered = if (WindowDimensions.hasFilter) "count(v) FILTER (WHERE p)" else "count(if(p, v, NULL))"
  private val Functions =
    Seq("sum(v)", "count(*)", Filtered, "min(v)", "max(s)", "avg(x)", "sum(x)", "sum(n)", "max_by(s, v)", "last(v)")
  private val WithTies = Seq("sum(v)", "count(*)", Filtered, "min(v)", "max(s)", "avg(x)", "sum(n)", "max_by(s, id)")
  private val Carried =
    Seq("sum(v)", "count(*)", Filtered, "min(v)", "max(s)", "avg(x)", "sum(x)", "sum(n)", "bit_xor(v)")

  private val RowFrames = Seq(
    "3 PRECEDING AND CURRENT ROW",
    "CURRENT ROW AND 20 FOLLOWING",
    "1000 FOLLOWING AND 1010 FOLLOWING").map("ROWS BETWEEN " + _)
  private val LargeRowFrames = Seq(
    "1000 PRECEDING AND CURRENT ROW",
    "700 PRECEDING AND 500 PRECEDING",
    "100 PRECEDING AND 100 FOLLOWING").map("ROWS BETWEEN " + _)
  private val overRows = RowFrames.flatMap(over(Functions, Unique, _)) ++ LargeRowFrames.flatMap(over(
    Seq("sum(v)", "max(s)", "avg(x)"),
    Unique,
    _))
  private val RangeFrames = Seq(
    "5 PRECEDING AND CURRENT ROW",
    "CURRENT ROW AND 5 FOLLOWING",
    "40 PRECEDING AND 30 PRECEDING",
    "10 FOLLOWING AND 50 FOLLOWING",
    "3 PRECEDING AND 3 FOLLOWING",
    "CURRENT ROW AND CURRENT ROW"
  ).map("RANGE BETWEEN " + _)
  private val Whole = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
  private val Growing = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"

  private def select(columns: Seq[String], parts: Option[Int], from: String): String =
    s"SELECT ${parts.fold("")(n => s"/*+ SKEW_WINDOW($n) */ ")}id, ${columns.zipWithIndex.map { case (column, i) =>
        s"$column AS c$i"
      }.mkString(",\n  ")} FROM $from"

  private def windows(query: DataFrame): Seq[SlidingWindowExec] =
    collect(plan(query)) { case window: SlidingWindowExec => window }

  /**
   * The answer is Spark's, and the key 0 was cut, or nothing was. Hints: both before the shuffle, where that can be,
   * and after it.
   */
  private def checkSplit(columns: Seq[String], parts: Option[Int], from: String = "d", split: Boolean = true): Unit = {
    checkSplitOf(columns, parts, from, split)
    if (parts.isDefined) checkSplitOf(columns, parts, from.replaceFirst("^d", "d_shuffled"), split)
  }

  private def checkSplitOf(columns: Seq[String], parts: Option[Int], from: String, split: Boolean): Unit = {
    val text = select(columns, parts, from)
    val expected = known.getOrElseUpdate(
      s"${spark.conf.get("spark.sql.ansi.enabled")} ${select(columns, None, from.replace("d_shuffled", "d"))}",
      onStockWindows(sql(text).collect().map(row => row.get(0) -> row).toMap)
    )
    val answer = sql(text)
    val found = answer.collect()
    if (found.map(_.get(0)).toSet != expected.keySet || found.length != expected.size)
      fail(s"${found.length} rows for ${expected.size}\n$text")
    for ((column, i) <- columns.zipWithIndex) {
      val wrong = found.filterNot(row => Answers.text(row.get(i + 1)) == Answers.text(expected(row.get(0)).get(i + 1)))
      if (wrong.nonEmpty)
        fail(s"$column, $parts parts: ${wrong.length} rows, among them id ${wrong.head.get(0)}: expected " +
          s"${Answers.text(expected(wrong.head.get(0)).get(i + 1))}, found ${Answers.text(wrong.head.get(i + 1))}")
    }
    val counted = windows(answer).map(_.metrics("splitParts").value).sum
    if ((counted >= 2) != split) fail(
      s"$counted parts of ${columns.mkString(", ").take(300)}\n${operators(answer)}\n${PlanReport.of(plan(answer))}".take(
        2000))
  }

  private def withHint[T](body: => T): T = withConf(Settings: _*)(body)
  private def withSkew[T](body: => T): T = withConf(Settings ++ Skewed: _*)(body)

  private val Parts = Seq(2, 3, 4, 8)

  test("ROWS frames") {
    load(1600, Ties)
    withHint(withConf("spark.sql.codegen.factoryMode" -> "CODEGEN_ONLY")(for (parts <- Parts)
      checkSplit(overRows, Some(parts))))
  }

  test("ROWS frames larger than a part") {
    load(300, "int(id)")
    withHint(for (parts <- Parts) checkSplit(overRows, Some(parts)))
  }

  test("RANGE frames") {
    load(2000, Ties)
    withHint(withConf("spark.sql.ansi.enabled" -> "true") { // or a bound may wrap
      for (parts <- Parts) checkSplit(RangeFrames.flatMap(over(WithTies, Single, _)), Some(parts))
    })
  }

  test("growing frames, ranks and offsets") {
    load(2000, Ties)
    withHint(for (parts <- Parts) {
      checkSplit(
        over(Carried, Unique, Growing) ++ over(Carried, Unique, Whole) ++
          over(
            Seq("row_number()", "rank()", "lag(v)", "lag(s, 700)", "lead(v, 3)", "lead(s, 1, 'none')", "lag(v, -2)"),
            Unique,
            ""),
        Some(parts)
      )
      checkSplit(over(Seq("rank()", "dense_rank()") ++ Carried, Single, ""), Some(parts))
    })
  }

  test("all kinds of functions in one window") {
    load(2000, Ties)
    withHint {
      withConf("spark.sql.ansi.enabled" -> "true") {
        checkSplit(
          over(Seq("rank()", "dense_rank()"), Single, "") ++ over(
            WithTies,
            Single,
            "RANGE BETWEEN 5 PRECEDING AND 2 FOLLOWING"),
          Some(4))
      }
      checkSplit(
        over(Seq("rank()", "row_number()", "lag(v, 3)"), Unique, "") ++ over(Carried, Unique, Growing) ++
          over(Functions, Unique, "ROWS BETWEEN 50 PRECEDING AND 20 FOLLOWING") ++ over(Carried, Unique, Whole),
        Some(4)
      )
    }
  }

  test("ranks beside frames that reach into the middle of ties") {
    load(1500, "int(id % 8)")
    withHint {
      for (frame <- Seq("ROWS 3 PRECEDING", "ROWS BETWEEN CURRENT ROW AND 5 FOLLOWING")) checkSplitOf(
        over(Seq("rank()", "dense_rank()"), Single, "") :+ s"count(*) OVER (PARTITION BY k ORDER BY o $frame)",
        Some(4),
        "d",
        split = true)
    }
  }

  for ((name, order) <- Seq(
      "few values" -> "int(id % 5)",
      "two values" -> "int(id % 2)",
      "nearly all on one value" -> "int(if(id % 50 = 0, id, 700))",
      "mostly NULL" -> "if(id % 3 > 0, NULL, int(id))",
      "far apart" -> "int(if(id % 2 = 0, id - 100000, id + 100000))"
    )) test(s"order values: $name") {
    load(1200, order)
    withHint {
      for (direction <- Seq("ASC", "ASC NULLS LAST", "DESC", "DESC NULLS FIRST");
        parts = if (direction.contains("NULLS")) 3 else 8) {
        checkSplit(
          over(
            Functions.take(5),
            s"(PARTITION BY k ORDER BY o $direction, id)",
            "ROWS BETWEEN 30 PRECEDING AND 10 FOLLOWING") ++
            over(Seq("row_number()", "sum(v)"), s"(PARTITION BY k ORDER BY o $direction, id)", Growing),
          Some(parts)
        )
        withConf("spark.sql.ansi.enabled" -> "true") {
          checkSplit(
            over(
              WithTies.take(5),
              s"(PARTITION BY k ORDER BY o $direction)",
              "RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING") ++
              over(Seq("rank()", "dense_rank()", "count(v)"), s"(PARTITION BY k ORDER BY o $direction)", ""),
            Some(parts)
          )
        }
      }
    }
  }

  for ((name, order, offset) <- Seq(
      (
        "double",
        "CASE WHEN id % 11 = 0 THEN double('NaN') WHEN id % 13 = 0 THEN double('Infinity') WHEN id % 17 = 0 THEN double('-Infinity') " +
          "WHEN id % 19 = 0 THEN -0.0D WHEN id % 23 = 0 THEN 0.0D ELSE double(pmod(hash(id), 200) - 100) / 4 END",
        "1.5D"),
      ("float", "if(id % 11 = 0, float('NaN'), float(pmod(hash(id), 200) - 100) / 4)", "1.5F"),
      ("bigint", "pmod(hash(id), 200) + 9007199254740993L", "7L"),
      ("decimal", "CAST(pmod(hash(id), 200) / 4 AS DECIMAL(10, 2))", "1.50"),
      ("date", "date_add(DATE'1969-11-30', int(pmod(hash(id), 90)))", "INTERVAL '5' DAY"),
      ("date and months", "date_add(DATE'2023-11-30', int(pmod(hash(id), 200)))", "INTERVAL '1' MONTH"),
      ("date and more days than there are", "date_add(DATE'1969-11-30', int(pmod(hash(id), 90)))", "2147483647"),
      ("timestamp", "TIMESTAMP'2024-01-30' + make_dt_interval(0, int(pmod(hash(id), 900)))", "INTERVAL '30' HOUR"),
      (
        "timestamp without zone",
        "TIMESTAMP_NTZ'2024-01-30' + make_dt_interval(0, int(pmod(hash(id), 900)))",
        "INTERVAL '30' HOUR")
    )) {
    test(s"RANGE frames over $name") {
      load(1500, s"if(id % 29 = 4, NULL, $order)")
      withHint(withConf("spark.sql.ansi.enabled" -> "true") {
        for (direction <- Seq("ASC", "DESC");
          frame <- Seq("x PRECEDING AND CURRENT ROW", "CURRENT ROW AND x FOLLOWING", "x PRECEDING AND x FOLLOWING")) {
          checkSplit(
            over(
              WithTies.take(4),
              s"(PARTITION BY k ORDER BY o $direction)",
              s"RANGE BETWEEN ${frame.replace("x", offset)}"),
            Some(4),
            split = offset != Int.MaxValue.toString
          ) // whose bounds wrap around
        }
      })
    }
  }

  private def withKeys(keys: String): Seq[String] =
    over(Functions, s"(PARTITION BY $keys ORDER BY o, id)", "ROWS BETWEEN 40 PRECEDING AND 3 FOLLOWING") ++
      over(Seq("row_number()", "count(v)"), s"(PARTITION BY $keys ORDER BY o, id)", Growing)

  for ((name, key) <- Seq(
      "three hot ones beside cold ones" -> "int(if(id % 20 = 0, 100 + id % 90, id % 3))",
      "NaN, -0.0 and 0.0" -> "CASE id % 3 WHEN 0 THEN -0.0D WHEN 1 THEN 0.0D ELSE double('NaN') END",
      "structs" -> "named_struct('a', if(id % 9 = 0, NULL, 1), 'b', if(id % 20 = 1, 'cold', 'hot'))"
    )) test(s"keys in one shuffle partition: $name") {
    load(1600, Ties, key)
    withHint(withConf("spark.sql.shuffle.partitions" -> "1")(checkSplit(withKeys("k"), Some(4))))
  }

  test("keys that may be equal and have different bytes are not split") {
    load(1600, Ties, "if(id % 4 < 2, 'hot', if(id % 4 = 2, 'HOT', concat('cold', id % 30))) COLLATE UTF8_LCASE")
    withHint(withConf("spark.sql.shuffle.partitions" -> "1")(checkSplit(withKeys("k"), Some(4), split = false)))
  }

  test("keys: none at all, two columns, an expression") {
    load(1600, Ties)
    withHint {
      checkSplit(
        over(Functions, "(ORDER BY o, id)", "ROWS 40 PRECEDING") ++ over(
          Seq("row_number()", "lag(v)"),
          "(ORDER BY o, id)",
          ""),
        Some(4))
      checkSplit(withKeys("k, p"), Some(3))
      checkSplit(withKeys("CASE WHEN k = 0 THEN 'hot' ELSE s END"), Some(4))
    }
  }

  test("keys on one value are not cut") {
    load(1500, "7")
    withHint {
      val text = select(over(Functions, Unique, "ROWS 40 PRECEDING"), Some(4), "d")
      checkWindow(text)
      val answer = sql(text)
      answer.collect()
      assert(windows(answer).map(_.metrics("haloRows").value) == Seq(0), plan(answer))
    }
  }

  for (order <- Seq("ASC", "DESC");
    (name, frame) <- Seq(
      "ROWS" -> "ROWS BETWEEN 60 PRECEDING AND 2 FOLLOWING",
      "RANGE" -> "RANGE BETWEEN 3 PRECEDING AND 1 FOLLOWING")) {
    test(s"skewed partitions are split without a hint: $name, $order") {
      load(3000, Ties)
      withSkew {
        val window =
          if (name == "ROWS") s"(PARTITION BY k ORDER BY o $order, id)" else s"(PARTITION BY k ORDER BY o $order)"
        withConf("spark.sql.ansi.enabled" -> "true")(checkSplit(over(WithTies, window, frame), None))
        checkSplit(over(Carried, s"(PARTITION BY k ORDER BY o $order, id)", Growing), None)
      }
    }
  }

  for (codegen <- Seq("true", "false"))
    test(s"ROWS and RANGE frames, and offsets, over one sort, generated code $codegen") {
      load(2000, "int(pmod(id * 7919, 2003))") // no ties
      withHint(withConf("spark.sql.ansi.enabled" -> "true", "spark.sql.codegen.wholeStage" -> codegen) {
        for (parts <- Parts) {
          checkSplit(
            over(Functions, Single, "RANGE BETWEEN 5 PRECEDING AND CURRENT ROW") ++ over(
              Functions,
              Single,
              "ROWS BETWEEN 40 PRECEDING AND 2 FOLLOWING") ++
              over(Seq("lag(v, 3)", "lead(s)"), Single, ""),
            Some(parts)
          )
          checkSplit(
            over(Functions, Single, "RANGE BETWEEN 300 PRECEDING AND 20 FOLLOWING") ++ over(
              Functions,
              Single,
              "ROWS 3 PRECEDING"),
            Some(parts))
        }
      })
    }

  test("in generated code, too") {
    load(2000, Ties)
    withHint(withConf(Generated: _*) {
      checkSplit(
        over(Functions, Unique, "ROWS BETWEEN 30 PRECEDING AND 10 FOLLOWING") ++ over(Carried.take(3), Unique, Growing),
        Some(4))
      checkSplit(over(Functions, Unique, "ROWS BETWEEN 30 PRECEDING AND 10 FOLLOWING"), Some(4))
      withConf("spark.sql.ansi.enabled" -> "true") {
        checkSplit(over(WithTies, Single, "RANGE BETWEEN 25 PRECEDING AND 5 FOLLOWING"), Some(8)) // into several parts
      }
      checkSplit(over(Functions, "(ORDER BY o, id)", "ROWS 40 PRECEDING"), Some(3))
    })
  }

  test("in a union, whose generated code would give its tasks other numbers") {
    load(2000, Ties)
    def half(parts: Int, column: String) =
      s"SELECT id, f FROM (SELECT /*+ SKEW_WINDOW($parts) */ id, $column AS f FROM d)"
    val union = half(2, over(Seq("sum(v)"), Unique, Growing).head) + " UNION ALL " +
      half(8, over(Seq("max(s)"), Unique, Growing).head).replace("id, f FROM", "id, length(f) FROM")
    for (settings <- Seq(Interpreted, Generated)) withHint(withConf(settings: _*) {
      val answer = sql(union)
      assert(Answers.rows(answer) == onStockWindows(Answers.rows(sql(union))))
      assert(cuts(answer).map(_.getClass) == Seq.fill(2)(classOf[CutAtRead]))
    })
  }

  test("another extension has replaced Spark's reads of the shuffle") {
    load(2000, Ties)
    for (settings <- Seq(Interpreted, Generated)) withHint(withConf(settings: _*) {
      val answer = sql(select(over(Seq("sum(v)"), Unique, Growing), Some(4), "d"))
      val expected = Answers.rows(answer)
      val replaced = stripAQEPlan(plan(answer)).transformUp { case read: AQEShuffleReadExec => ForeignReadExec(read) }
      assert(replaced.collect { case read: ForeignReadExec => read }.size == 1)
      assert(replaced.executeCollectPublic().toSeq.map(Answers.text).sorted == expected)
    })
  }

  test("the split shows in the metrics") {
    load(3000, "int(id)")
    withHint {
      val answer = sql(select(over(Seq("sum(v)"), Unique, "ROWS 10 PRECEDING"), Some(4), "d"))
      answer.collect()
      val metrics = windows(answer).head.metrics
      assert(metrics("splitParts").value >= 4 && metrics("hotKeys").value >= 1, plan(answer))
      assert(metrics("haloRows").value >= 30 && metrics("haloRows").value < 300, metrics("haloRows").value)
      assert(metrics("numOutputRows").value == 3000)
    }
  }

  private def cuts(query: DataFrame): Seq[WindowCuts] = { query.collect(); windows(query).flatMap(_.cuts) }

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
        "spark.joinery.slidingWindow.skewSplit.minPartition" -> "64MB",
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
