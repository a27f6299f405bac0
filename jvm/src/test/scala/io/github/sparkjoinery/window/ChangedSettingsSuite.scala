package io.github.sparkjoinery.window

import java.nio.file.Files

import org.apache.spark.sql.{DataFrame, Row}

/**
 * Plans that run under other settings than they were made with, or ran with before. Bounds of RANGE frames go by the
 * settings of the run, because tasks compute them, as in Spark.
 */
class ChangedSettingsSuite extends SkewedWindowChecks {
  private val Zone = "spark.sql.session.timeZone"
  private val Ansi = "spark.sql.ansi.enabled"
  private val NewYork = "America/New_York"
  private val Modes =
    for (adaptive <- Seq("false", "true"); code <- Seq(Interpreted, Generated))
      yield FewPartitions ++ code :+ ("spark.sql.adaptive.enabled" -> adaptive)

  private type Outcome = Either[String, Map[Any, Row]]

  override def beforeAll(): Unit = {
    super.beforeAll()
    // Clocks in New York are set back on the second of these days.
    val times = "timestamp'2020-10-31 00:00:00Z' + make_dt_interval(0, 0, 10 * id)"
    val few = Files.createTempDirectory("few").resolve("few").toString
    sql("SELECT id FROM range(0, 590, 1, 1)").write.parquet(few)
    spark.read.parquet(few).createOrReplaceTempView("few")
    for ((name, order) <- Seq(
        "clocks" -> times,
        "numbers" -> "int(2147483647 - 2 * id)",
        "ends" -> "int(if(id < 300, 2 * id - 2147483648L, 2147483647 - 2 * (id - 300)))"
      )) {
      sql(s"SELECT id, 1 AS k, $order AS o FROM range(0, 600, 1, 2)").localCheckpoint().createOrReplaceTempView(name)
      sql(s"SELECT /*+ REPARTITION(3) */ * FROM $name").createOrReplaceTempView(s"${name}_shuffled")
    }
  }

  private def query(from: String, frame: String, parts: Option[Int] = None): String =
    select(Seq(s"count(*) OVER (PARTITION BY k ORDER BY o RANGE BETWEEN $frame)"), parts, from)

  /** Compares answers without hundreds of rows in the message. */
  private def checkSame(found: Any, expected: Any, text: String): Unit =
    if (found != expected) fail(s"another answer than expected: $text")

  private def onStock[T](body: => T): T = withConf("spark.joinery.slidingWindow.enabled" -> "false")(body)

  private val Day = "INTERVAL '1' DAY PRECEDING AND CURRENT ROW"
  private val Late = "50 FOLLOWING AND 100 FOLLOWING" // beyond the greatest number

  /** One plan runs under one value of a setting after the other, each time as Spark's plan does. */
  private def checkAgain(text: String, setting: String, values: String*): Unit = {
    def runs(): Seq[Outcome] = {
      val answer = withConf(setting -> values.head)(sql(text))
      values.map(value => withConf(setting -> value)(outcome(answer)))
    }
    val expected = onStock(runs())
    assert(expected.distinct.length > 1, "the setting makes no difference")
    checkSame(runs(), expected, text)
  }

  test("a plan that runs again in another zone") {
    for (mode <- Modes) withConf(mode: _*)(checkAgain(query("clocks", Day), Zone, "UTC", NewYork, "UTC"))
  }

  test("a plan that runs again in or without ANSI mode") {
    for (mode <- Modes) withConf(mode: _*)(checkAgain(query("numbers", Late), Ansi, "false", "true", "false"))
  }

  test("a plan that runs again with a subquery among its functions") {
    val functions = over(
      Seq("count(*) FILTER (WHERE id < (SELECT max(id) FROM few))", "sum(id + (SELECT max(id) FROM few))", "max(id)"),
      Single,
      s"RANGE BETWEEN $Day")
    for (mode <- Modes)
      withConf(mode: _*)(checkAgain(select(functions, None, "clocks"), Zone, "UTC", NewYork))
  }

  /** A plan is made under one value of a setting and runs first under another. */
  private def plannedFirst(text: String, setting: String, before: String, after: String): (DataFrame, Outcome) = {
    val answer = withConf(setting -> before) {
      val answer = sql(text)
      planned(answer)
      answer
    }
    (answer, withConf(setting -> after)(outcome(answer)))
  }

  private def checkPlannedFirst(text: String, setting: String, before: String, after: String): Unit = {
    val expected = onStock(plannedFirst(text, setting, before, after)._2)
    val (answer, found) = plannedFirst(text, setting, before, after)
    checkSame(found, expected, text)
    assert(hotKeys(answer).nonEmpty, plan(answer))
  }

  test("a window that is cut, in a zone whose days differ") {
    withConf(Modes.last: _*) {
      checkPlannedFirst(query("clocks", Day, Some(16)), Zone, "UTC", NewYork)
      checkPlannedFirst(query("clocks", Day, Some(16)), Zone, "UTC", "+08:00")
      val hours = "INTERVAL '23' HOUR PRECEDING AND INTERVAL '2' HOUR FOLLOWING"
      checkPlannedFirst(query("clocks", hours, Some(16)), Zone, "UTC", NewYork)
      checkPlannedFirst(query("numbers", "40 PRECEDING AND CURRENT ROW", Some(16)), Zone, "UTC", NewYork)
      checkPlannedFirst(query("clocks", Day, Some(16)), Ansi, "true", "false")
    }
  }

  test("a window that is cut, without the ANSI mode that it was planned in") {
    withConf(Modes.last: _*)(checkPlannedFirst(query("ends", Late, Some(16)), Ansi, "true", "false"))
  }

  test("a cached plan, which has settings of its own, runs under those of the query that fills the cache") {
    for (from <- Seq("clocks", "clocks_shuffled"); parts <- Seq(None, Some(16))) withHint {
      val text = query(from, Day, parts)
      val expected = withConf(Zone -> NewYork)(onStock(outcome(sql(text))))
      val answer = sql(text).cache()
      try withConf(Zone -> NewYork)(checkSame(outcome(answer), expected, text))
      finally answer.unpersist(true)
    }
  }

  test("a cut window that runs again in another zone") {
    withConf(Modes.last: _*)(checkAgain(query("clocks", Day, Some(16)), Zone, "UTC", NewYork, "UTC"))
  }
}
