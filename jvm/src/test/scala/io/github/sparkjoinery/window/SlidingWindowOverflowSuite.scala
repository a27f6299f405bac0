package io.github.sparkjoinery.window

import scala.util.Random

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.WindowExpression
import org.apache.spark.sql.joinery.ScarceMemory

import io.github.sparkjoinery.window.exec.SlidingWindowExec
import io.github.sparkjoinery.window.logical.program.{Bound, FunctionProgram, WindowCompiler}
import io.github.sparkjoinery.{Answers, Pairwise}

/**
 * Sums and bounds of frames that their type cannot hold. Joinery has the same error, NULL or wrapped value as Spark's
 * own operator, in the same rows. A sum is no error if only a partial sum does not fit.
 */
class SlidingWindowOverflowSuite extends WindowChecks {

  private val Settings = Seq("spark.sql.adaptive.enabled" -> "false")

  /** Makes a view of rows, all in one partition, so that no shuffle fails and logs that it did. */
  private def load(rows: Seq[String], columns: String): Unit =
    sql(s"SELECT * FROM VALUES ${rows.mkString(", ")} AS t($columns)").coalesce(
      1).localCheckpoint().createOrReplaceTempView("t")

  private def seconds(micros: String): String = s"INTERVAL '0 00:00:00.000001' DAY TO SECOND * ${micros}L"

  // sums

  private val Sums = Seq(
    "bigint" -> Seq(
      "9223372036854775807L",
      "-9223372036854775808L",
      "4611686018427387904L",
      "-4611686018427387905L",
      "1L",
      "-1L",
      "NULL"),
    "decimal(38, 0)" -> Seq("9e37", "-9e37", "5e37", "-5e37", "1", "-1", "NULL").map(x =>
      s"CAST($x AS DECIMAL(38, 0))"),
    "decimal(38, 10)" -> Seq("9e27", "-9e27", "5e27", "0.5", "-0.0000000001", "NULL").map(x =>
      s"CAST($x AS DECIMAL(38, 10))"),
    "interval year to month" -> Seq("2147483647", "-2147483648", "1073741824", "1", "-1", "NULL").map(x =>
      s"make_ym_interval(0, $x)"),
    "interval day to second" -> (Seq(
      "9223372036854775807",
      "-9223372036854775808",
      "4611686018427387904",
      "1",
      "-1").map(seconds) :+ "NULL")
  )
  private val Infinite = Seq("1e308D", "-1e308D", "1.5e308D", "1D", "NULL")

  private val Frames = Seq(
    "2 PRECEDING AND CURRENT ROW",
    "1 PRECEDING AND 1 FOLLOWING",
    "CURRENT ROW AND UNBOUNDED FOLLOWING",
    "3 PRECEDING AND 1 PRECEDING",
    "CURRENT ROW AND 1 FOLLOWING",
    "5 PRECEDING AND 5 FOLLOWING"
  )
  private def over(function: String, frame: String): String =
    s"$function OVER (PARTITION BY k ORDER BY id ROWS BETWEEN $frame)"

  /**
   * Makes short sequences. Many of them can be added up from the left but not from the right, or the other way round.
   */
  private def loadSequences(values: Seq[String], seed: Int): Unit = {
    val random = new Random(seed)
    load(
      for (k <- 0 until 40; i <- 0 until 1 + random.nextInt(7))
        yield s"(${k * 10 + i}, $k, ${values(random.nextInt(values.length))})",
      "id, k, v")
  }

  for ((name, values) <- Sums; ansi <- Seq("true", "false"))
    test(s"sums of $name that wrap, or are NULL, ANSI mode $ansi") {
      loadSequences(values, seed = 3)
      withConf(Settings :+ "spark.sql.ansi.enabled" -> ansi: _*) {
        val left = Seq("bigint" -> "try_sum(v)", "interval" -> "try_sum(v)", "interval" -> "try_avg(v)").collect {
          case (of, function) if name.startsWith(of) => function // NULL if only a partial sum does not fit
        }
        val exact = Seq("try_sum(v)", "sum(v)") ++ (if (name == "bigint") Nil else Seq("try_avg(v)", "avg(v)"))
        val mayFail = ansi == "true" || name.startsWith("interval")
        val taken = exact.filterNot(left.contains).filter(_.startsWith("try_") || !mayFail)
        for ((functions, sliding) <- Seq(taken -> true, left -> false) if functions.nonEmpty)
          checkWindows(for (function <- functions; frame <- Frames) yield over(function, frame), "FROM t", sliding)
      }
    }

  for ((name, values) <- Sums if name.startsWith("decimal")) test(s"sums of $name that fail") {
    loadSequences(values, seed = 5)
    withConf(Settings ++ Interpreted :+ "spark.sql.ansi.enabled" -> "true": _*) { // the error of a sequence hides the others
      for ((frame, i) <- Frames.zipWithIndex; k <- if (Pairwise.isSoak) 0 until 4 else Seq(i % 3, 3)) {
        checkWindow(s"SELECT id, ${over(if (k == 3) "avg(v)" else "sum(v)", frame)} AS f FROM t WHERE k = ${4 * i + k}")
      }
    }
  }

  /**
   * For each type: numbers, SQL that makes a value or NULL of a number, and Spark's error for a sum that does not fit.
   */
  private val Exact = Seq(
    (
      "bigint",
      Seq("9223372036854775807", "-9223372036854775808", "4611686018427387904", "1", "-1", "NULL"),
      (x: String) => s"try_cast($x AS BIGINT)",
      "ARITHMETIC_OVERFLOW"),
    (
      "interval year to month",
      Seq("2147483647", "-2147483648", "1073741824", "1", "-1", "NULL"),
      (x: String) => s"make_ym_interval(0, try_cast($x AS INT))",
      "INTERVAL_ARITHMETIC_OVERFLOW.WITH_SUGGESTION"),
    (
      "interval day to second",
      Seq("9223372036854775807", "-9223372036854775808", "4611686018427387904", "1", "-1", "NULL"),
      (x: String) => seconds(s"try_cast($x AS BIGINT)").stripSuffix("L"),
      "INTERVAL_ARITHMETIC_OVERFLOW.WITH_SUGGESTION")
  )

  for ((name, numbers, value, error) <- Exact; cores <- Seq(1, 100000000 /* no memory for columns */ ))
    test(s"sums of $name fail only where the whole frame's sum does not fit, $cores cores") {
      withConf(Settings :+ "spark.sql.ansi.enabled" -> "true": _*) {
        loadSequences(numbers.map(x => s"CAST($x AS DECIMAL(20, 0))"), seed = 5)
        var onlyParts = 0
        val functions = if (name == "bigint") Seq("sum") else Seq("sum", "avg")
        for (frame <- Seq(Frames.head, Frames(2), Frames.last); function <- functions) {
          def query(keys: Iterable[Int]) =
            s"SELECT id, ${over(s"$function(${value("v")})", frame)} AS f FROM t WHERE k IN (${keys.mkString(", ")})"
          val sum = over("sum(v)", frame)
          val exact = if (function == "sum") value(sum) else s"${value(sum)} / ${over("count(v)", frame)}"
          val whole = onStockWindows(sql(
            s"SELECT id, k, if($sum IS NULL, NULL, $exact) AS f, $sum IS NULL OR ${value(sum)} IS NOT NULL AS fits FROM t").collect())
          val (fitting, failing) = whole.groupBy(_.getInt(1)).partition(_._2.forall(_.getBoolean(3)))
          val expected = fitting.values.flatten.map(row => row.get(0) -> Row(row.get(0), row.get(2))).toMap[Any, Row]
          ScarceMemory.withShareOf(cores) {
            val found = outcome(sql(query(fitting.keys)))
            assert(isSliding(sql(query(fitting.keys))))
            assert(found.map(rows => expected.toSeq.diff(rows.toSeq)) == Right(Nil))
            for (k <- failing.keys.toSeq.sorted.take(2)) assert(outcome(sql(query(Seq(k)))) == Left(error))
          }
          if (onStockWindows(outcome(sql(query(fitting.keys)))) == Left(error)) onlyParts += 1
        }
        assert(onlyParts > 0, "no sum has a part that does not fit")
      }
    }

  test("averages of bigints are those of exact sums") {
    loadSequences(Sums.head._2, seed = 9)
    withConf(Settings: _*)(for (frame <- Frames) {
      val exact =
        s"double(${over("sum(CAST(v AS DECIMAL(20, 0)))", frame)}) / nullif(${over("count(v)", frame)}, 0)"
      val wanted = onStockWindows(sql(s"SELECT id, $exact FROM t").collect()).map(row => row.get(0) -> row.get(1)).toMap
      val query = sql(s"SELECT id, ${over("avg(v)", frame)} FROM t")
      assert(isSliding(query))
      query.collect().foreach(row =>
        (wanted(row.get(0)), row.get(1)) match {
          case (exact: Double, found: Double) => assert((exact - found).abs <= 2 * math.ulp(exact), s"$row, $frame")
          case (exact, found) => assert(exact == found, s"$row, $frame")
        })
    })
  }

  test("infinite sums of doubles") {
    loadSequences(Infinite, seed = 7)
    withConf(Settings: _*) {
      val kinds = for (frame <- Frames; function <- Seq("sum(v)", "avg(v)"); f = over(function, frame))
        yield s"CASE WHEN isnan($f) THEN '?' WHEN abs($f) = double('Infinity') THEN string($f) WHEN $f IS NOT NULL THEN 'finite' END"
      checkWindows(kinds, "FROM t")
    }
  }

  // growing frames, which have more rows than the window keeps for its moving frames

  /** Name, values of 9,000 rows, and aggregates over them. */
  private val Long9000 = Seq(
    (
      "sums near the ends of bigint",
      "if(id % 2 = 0, 9223372036854775807L, -9223372036854775807L)",
      Seq("sum(v)", "avg(v)", "try_sum(v)")),
    ("sums beyond the ends of bigint", "9223372036854775L * (id % 3 + 1)", Seq("try_sum(v)", "avg(v)")),
    ("averages of nanoseconds", "1700000000000000000L + id", Seq("avg(v)", "count(v)")),
    ("sums near the ends of double", "if(id % 2 = 0, 1e308D, -1e308D)", Seq("sum(v)", "avg(v)")),
    ("one infinity", "if(id = 8000, double('Infinity'), double(id))", Seq("max(v)", "stddev(v)", "sum(v)")),
    (
      "sums near the ends of decimal",
      "CAST(if(id % 2 = 0, '9e37', '-9e37') AS DECIMAL(38, 0))",
      Seq("sum(v)", "try_sum(v)"))
  )

  for ((name, value, functions) <- Long9000; ansi <- Seq("true", "false")) {
    test(s"growing frames beside moving ones: $name, ANSI mode $ansi") {
      sql(s"SELECT int(id) AS id, 0 AS k, $value AS v FROM range(0, 9000, 1, 1)")
        .localCheckpoint().createOrReplaceTempView("t")
      withConf(Settings :+ "spark.sql.ansi.enabled" -> ansi: _*) {
        val growing = Seq(
          "UNBOUNDED PRECEDING AND CURRENT ROW",
          "UNBOUNDED PRECEDING AND 3 FOLLOWING",
          "UNBOUNDED PRECEDING AND 7 PRECEDING",
          "UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
        )
        val columns = for (function <- functions; frame <- growing) yield over(function, frame)
        val moving = over("max(v)", "3 PRECEDING AND CURRENT ROW")
        checkWindow(s"SELECT id, ${(columns :+ moving).mkString(", ")} FROM t")
      }
    }
  }

  for (cores <- Seq(1, 100000000 /* no memory for columns */ ))
    test(s"a few numbers near the end of their type, far from each other, $cores cores") {
      withConf(Settings :+ "spark.sql.ansi.enabled" -> "false" :+ CompiledExpressions: _*) {
        sql("""SELECT id, k, if(is_large, 9223372036854775000L, id % 1000) AS v, if(is_large, 1.7e308D, id % 8) AS x,
              |  if(is_large, repeat('9', 38), string(id % 1000)) :: DECIMAL(38, 0) AS n
              |FROM (SELECT int(id) AS id, int(id % 2) AS k, id % 1900 = 700 AS is_large FROM range(0, 6000, 1, 1))""".stripMargin)
          .localCheckpoint().createOrReplaceTempView("t")
        val columns =
          for (function <- Seq("sum(v)", "sum(x)", "sum(n)", "avg(n)", "max(v)");
            frame <- Seq(
              "ROWS BETWEEN 30 PRECEDING AND CURRENT ROW",
              "ROWS BETWEEN 40 FOLLOWING AND 70 FOLLOWING",
              "RANGE BETWEEN 90 PRECEDING AND 20 PRECEDING"))
            yield s"$function OVER (PARTITION BY k ORDER BY id $frame)"
        ScarceMemory.withShareOf(cores)(checkWindows(columns, "FROM t"))
      }
    }

  test("growing frames are added to, row by row, whatever else the window has") {
    val plan = sql("SELECT id, stddev(v) OVER w, sum(v) OVER w, sum(v) OVER (ORDER BY id ROWS 3 PRECEDING) " +
      "FROM t WINDOW w AS (ORDER BY id ROWS UNBOUNDED PRECEDING)")
    val Seq(window) = planned(plan).collect { case window: SlidingWindowExec => window }
    val functions = window.windowExpression.flatMap(_.collect { case function: WindowExpression => function })
    val frames = new WindowCompiler(window.orderSpec).compile(functions).frames
    val growing = frames.filter(_.lower == Bound.Unbounded).flatMap(_.functions)
    assert(growing.length == 2 && growing.forall(_.isInstanceOf[FunctionProgram.Growing]))
  }

  // an error is raised when its row is read

  for (wholeStage <- Seq("true", "false")) test(s"an error in a row that nobody asks for, generated code $wholeStage") {
    sql("""SELECT int(id) AS id, 0 AS k, if(id IN (500, 501), 9223372036854775807L, id) AS v,
          |CAST(if(id IN (500, 501), 99999999999999999999999999999999999999BD, id) AS DECIMAL(38, 0)) AS n,
          |if(id < 500, id, 9223372036854774400L + id) AS o FROM range(0, 1000, 1, 1)""".stripMargin)
      .localCheckpoint().createOrReplaceTempView("t")
    val settings = Seq("spark.sql.ansi.enabled" -> "true", "spark.sql.codegen.wholeStage" -> wholeStage)
    withConf(Settings ++ settings: _*) {
      val late = Seq("ROWS BETWEEN 3 PRECEDING AND CURRENT ROW", "ROWS BETWEEN CURRENT ROW AND 4 FOLLOWING")
        .flatMap(frame => Seq("sum(v)", "sum(n)").map(f => s"$f OVER (PARTITION BY k ORDER BY id $frame)")) :+
        "count(*) OVER (PARTITION BY k ORDER BY o RANGE BETWEEN CURRENT ROW AND 900 FOLLOWING)" :+
        ("sum(n) OVER (PARTITION BY k ORDER BY id ROWS UNBOUNDED PRECEDING), " +
          "max(v) OVER (PARTITION BY k ORDER BY id ROWS 3 PRECEDING)")
      for (column <- late) {
        for (rows <- Seq(5, 490)) {
          val text = s"SELECT id, $column FROM t LIMIT $rows"
          assert(Answers.rows(sql(text)) == onStockWindows(Answers.rows(sql(text))), text)
          assert(isSliding(sql(text)), text)
        }
        checkWindow(s"SELECT id, $column FROM t") // the error itself
      }
    }
  }

  // bounds

  private val Orders = Seq(
    ("smallint", Seq("32767S", "32766S", "-32768S", "0S"), "5"),
    ("int", Seq("2147483647", "2147483646", "-2147483648", "0"), "5"),
    ("bigint", Seq("9223372036854775807L", "9223372036854775806L", "-9223372036854775808L", "0L"), "5L"),
    ("double", Seq("1.7e308D", "1.6e308D", "-1.7e308D", "0D"), "1e308D"),
    (
      "decimal(10, 2)",
      Seq("99999999.99BD", "-99999999.99BD", "99999999BD", "0BD").map(x => s"CAST($x AS DECIMAL(10, 2))"),
      "5.50"),
    (
      "decimal(38, 0)",
      Seq("'99999999999999999999999999999999999999'", "'-99999999999999999999999999999999999999'", "0").map(x =>
        s"CAST($x AS DECIMAL(38, 0))"),
      "5"),
    ("date and days", Seq("DATE'9999-12-31'", "DATE'0001-01-01'", "DATE'2024-02-29'"), "INTERVAL '5' DAY"),
    ("date and months", Seq("DATE'9999-12-31'", "DATE'0001-01-01'", "DATE'2024-02-29'"), "INTERVAL '5' MONTH"),
    ("date and many days", Seq("DATE'9999-12-31'", "DATE'0001-01-01'", "DATE'2024-02-29'"), "2147483647"),
    (
      "timestamp",
      Seq("timestamp_micros(9223372036854775807L)", "timestamp_micros(-9223372036854775808L)", "timestamp_micros(0L)"),
      "INTERVAL '5' SECOND"),
    (
      "timestamp and months",
      Seq("timestamp_micros(9223372036854775807L)", "timestamp_micros(0L)"),
      "INTERVAL '5' MONTH"),
    (
      "interval year to month",
      Seq("make_ym_interval(0, 2147483647)", "make_ym_interval(0, -2147483648)", "make_ym_interval(0, 0)"),
      "INTERVAL '0-5' YEAR TO MONTH"),
    (
      "interval day to second",
      Seq("9223372036854775807", "-9223372036854775808", "0").map(seconds),
      "INTERVAL '0 00:00:05' DAY TO SECOND")
  )

  private val RangeFrames = Seq(
    "x PRECEDING AND CURRENT ROW",
    "CURRENT ROW AND x FOLLOWING",
    "x FOLLOWING AND UNBOUNDED FOLLOWING",
    "x PRECEDING AND x PRECEDING")

  for ((name, values, offset) <- Orders; ansi <- Seq("true", "false"))
    test(s"bounds beyond the ends of $name, ANSI mode $ansi") {
      load(
        (values :+ "NULL").zipWithIndex.flatMap { case (v, k) => (0 until 3).map(i => s"(${k * 3 + i}, $i, $v)") },
        "id, k, o")
      withConf(Settings ++ Interpreted :+ "spark.sql.ansi.enabled" -> ansi: _*) {
        for ((direction, where) <- (for (where <- Seq("true", "k = 0 AND o IS NOT NULL", "id < 3");
            direction <- Seq("ASC", "DESC"))
            yield direction -> where).filter(Pairwise.isSoak || _ != ("ASC" -> "id < 3"))) {
          checkWindows(
            RangeFrames.map(frame =>
              s"count(*) OVER (PARTITION BY k ORDER BY o $direction RANGE BETWEEN ${frame.replace("x", offset)})"),
            s"FROM t WHERE $where",
            sliding = name != "decimal(38, 0)" && !name.startsWith("interval")
          )
        }
      }
    }
}
