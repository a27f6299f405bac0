package io.github.sparkjoinery.lastjoin

import scala.collection.mutable

import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.Property
import org.apache.logging.log4j.core.{LogEvent, Logger}
import org.apache.logging.log4j.{Level, LogManager}

import org.apache.spark.sql.execution.adaptive.{AQEShuffleReadExec, AdaptiveSparkPlanExec}
import org.apache.spark.sql.execution.joins.{BroadcastHashJoinExec, SortMergeJoinExec}
import org.apache.spark.sql.{DataFrame, Row}

import io.github.sparkjoinery.{Answers, LastJoinChecks}

/**
 * Adaptive execution re-plans queries with our operators. It gives up if it meets a broadcast below an operator that it
 * does not know. Tests therefore check two things. It did not log that it gave up, and a stock sort-merge join of the
 * query became a broadcast join while the query ran.
 */
class AdaptiveLastJoinSuite extends LastJoinChecks {

  override protected def beforeAll(): Unit = {
    // The result of the filter on `big` is known to be small only at run time.
    sql("CREATE TABLE facts USING parquet AS SELECT id, int(id % 50) AS k, int(id % 50) AS j, int(id) AS ts FROM range(0, 2000, 1, 2)")
    sql("CREATE TABLE big USING parquet AS SELECT int(id % 50) AS k, int(id) AS ts, repeat('x', 100) AS pad FROM range(0, 20000, 1, 2)")
    views(
      "small_at_run_time" -> "SELECT k, max(ts) AS ts, max(pad) AS pad FROM big WHERE ts % 100 < 50 AND pad LIKE 'x%' GROUP BY k",
      "few" -> "SELECT int(id % 50) AS k, int(id * 3) AS ts FROM range(0, 300, 1, 2)"
    )
  }

  override protected def afterAll(): Unit = {
    Seq("facts", "big").foreach(table => sql(s"DROP TABLE $table"))
    super.afterAll()
  }

  private val Adaptive = Seq(
    "spark.sql.adaptive.enabled" -> "true",
    "spark.sql.adaptive.logLevel" -> "ERROR",
    "spark.sql.autoBroadcastJoinThreshold" -> "-1",
    "spark.sql.adaptive.autoBroadcastJoinThreshold" -> "20KB",
    "spark.sql.shuffle.partitions" -> "4"
  )

  /** The log of adaptive execution while `body` runs. */
  private def adaptiveLog(body: => Unit): Seq[String] = {
    val lines = mutable.ArrayBuffer.empty[String]
    val appender = new AbstractAppender("adaptive", null, null, true, Property.EMPTY_ARRAY) {
      override def append(event: LogEvent): Unit = lines.synchronized(lines += event.getMessage.getFormattedMessage)
    }
    appender.start()
    val logger = LogManager.getLogger(classOf[AdaptiveSparkPlanExec].getName).asInstanceOf[Logger]
    logger.setAdditive(false) // not on the console
    logger.addAppender(appender)
    val level = logger.getLevel
    logger.setLevel(Level.ERROR)
    try body
    finally {
      logger.removeAppender(appender)
      logger.setLevel(level)
      logger.setAdditive(true)
    }
    lines.synchronized(lines.toSeq)
  }

  private def initialPlan(query: DataFrame): Seq[String] =
    query.asInstanceOf[org.apache.spark.sql.joinery.DataFrame].queryExecution.executedPlan.collectFirst {
      case adaptive: AdaptiveSparkPlanExec => adaptive.initialPlan.collect { case node => node.nodeName }
    }.get

  /** Runs the query; its answer is right, the plan has changed, and re-planning went on to the end. */
  private def checkReplanned(text: String, changed: Boolean = true, conf: Seq[(String, String)] = Nil): DataFrame =
    withConf(Adaptive ++ conf: _*) {
      val query = sql(text)
      var rows = Seq.empty[String]
      val log = adaptiveLog { rows = Answers.rows(query) }
      assert(log.exists(_.contains("Final plan")), "nothing was logged")
      assert(log.exists(_.contains("Plan changed")) == changed, log.mkString("\n"))
      assert(!log.exists(_.contains("Invalid broadcast query stage")), log.mkString("\n"))
      val answer = withConf("spark.sql.adaptive.enabled" -> "false", "spark.joinery.lastJoin.maxBroadcast" -> "1GB")(
        Answers.rows(sql(text)))
      assert(rows.nonEmpty && rows == answer)
      query
    }

  private def stockJoinBesides(hint: String) =
    s"""SELECT /*+ $hint(w) */ f.id, w.ts, s.pad FROM facts f LAST JOIN few w ORDER BY w.ts ON f.k = w.k AND w.ts <= f.ts
       |JOIN small_at_run_time s ON f.j = s.k""".stripMargin

  for ((hint, operator) <- LastJoinForms) {
    test(s"a stock join above $operator becomes a broadcast join at run time") {
      val query = checkReplanned(stockJoinBesides(hint))
      assert(initialPlan(query).contains("SortMergeJoin"), "the premise")
      assert(operators(query).contains(operator))
      assert(collect(plan(query)) { case join: BroadcastHashJoinExec => join }.size == 1, plan(query))
      assert(collect(plan(query)) { case join: SortMergeJoinExec => join }.isEmpty)
    }

    test(s"a stock join below $operator becomes a broadcast join at run time") {
      val query = checkReplanned(
        s"""SELECT /*+ $hint(w) */ x.id, w.ts FROM (SELECT f.id, f.k, f.ts FROM facts f JOIN small_at_run_time s ON f.j = s.k) x
           |LAST JOIN few w ORDER BY w.ts ON x.k = w.k AND w.ts <= x.ts""".stripMargin)
      assert(initialPlan(query).contains("SortMergeJoin"), "the premise")
      assert(operators(query).contains(operator))
      assert(collect(plan(query)) { case join: BroadcastHashJoinExec => join }.size == 1, plan(query))
    }
  }

  test("a shuffled form becomes BroadcastLastJoin when its right side turns out small") {
    val query = checkReplanned(
      "SELECT f.id, w.ts, w.pad FROM facts f LAST JOIN small_at_run_time w ORDER BY w.ts ON f.k = w.k")
    assert(initialPlan(query).contains("ShuffledHashLastJoin"), "the premise")
    assert(
      operators(query).contains("BroadcastLastJoin") && !operators(query).contains("ShuffledHashLastJoin"),
      plan(query))
  }

  test("without equality, too") {
    val query =
      checkReplanned("SELECT f.id, w.ts FROM facts f LAST JOIN small_at_run_time w ORDER BY w.ts ON w.k < f.k")
    assert(initialPlan(query).contains("ShuffledHashLastJoin"), "the premise")
    assert(operators(query).contains("BroadcastLastJoin"), plan(query))
  }

  test("a chain of two forms, and one broadcast for the same right side twice") {
    val query = checkReplanned(
      """SELECT f.id, a.ts, b.ts AS bts, c.pad FROM facts f
        |LAST JOIN small_at_run_time a ORDER BY a.ts ON f.k = a.k LAST JOIN small_at_run_time b ORDER BY b.ts ON f.j = b.k
        |LAST JOIN big c ORDER BY c.ts ON f.k = c.k AND c.ts < f.ts""".stripMargin)
    assert(operators(query).count(_ == "BroadcastLastJoin") == 2, plan(query))
    assert(operators(query).count(_ == "ShuffledHashLastJoin") == 1, plan(query))
    assert(operators(query).contains("ReusedExchange"), plan(query))
  }

  for ((hint, operator) <- LastJoinForms if hint != "BROADCAST")
    test(s"$operator reads coalesced partitions, the same ones on both sides") {
      val query = checkReplanned(
        s"SELECT /*+ $hint(w) */ f.k, count(w.ts) AS n FROM facts f LAST JOIN big w ORDER BY w.ts ON f.k = w.k AND w.ts <= f.ts GROUP BY f.k",
        changed = false)
      assert(operators(query).contains(operator))
      val reads = collect(plan(query)) { case read: AQEShuffleReadExec => read.partitionSpecs.length }
      assert(reads.size >= 2 && reads.distinct.size == 1 && reads.head < 4, plan(query))
    }

  test("in a subquery, whose plan is adaptive in itself") {
    val query = checkReplanned(
      "SELECT id FROM facts WHERE ts < (SELECT max(w.ts) FROM facts f LAST JOIN small_at_run_time w ORDER BY w.ts ON f.k = w.k) - 19000")
    assert(operators(query).contains("BroadcastLastJoin"), plan(query))
  }

  // a BROADCAST hint for a right side whose size is a guess

  private val Limit = Seq("spark.joinery.lastJoin.maxBroadcast" -> "96KB")

  private def hinted(right: String): String =
    s"SELECT /*+ BROADCAST(w) */ f.id, w.ts FROM facts f LAST JOIN $right w ORDER BY w.ts ON f.k = w.k AND w.ts <= f.ts"

  for ((right, operator) <- Seq("small_at_run_time" -> "BroadcastLastJoin", "big" -> "ShuffledHashLastJoin")) {
    test(s"hinted, and measured before it is broadcast: $right") {
      val query = checkReplanned(hinted(right), conf = Limit)
      assert(initialPlan(query).containsSlice(Seq("ShuffledHashLastJoin", "Exchange", "AfterRight")), "the premise")
      assert(operators(query).contains(operator), plan(query))
    }
  }

  test("hinted, estimated far below the limit: broadcast at once") {
    val query = checkReplanned(hinted("few"), changed = false, conf = Limit)
    assert(initialPlan(query).contains("BroadcastLastJoin"))
  }

  test(
    "hinted, and found too large while it is built: an error that says what to do, before the driver's memory is full") {
    withConf("spark.joinery.lastJoin.maxBroadcast" -> "512KB", "spark.sql.adaptive.enabled" -> "false") {
      val query = sql(hinted("big"))
      assert(operators(query).contains("BroadcastLastJoin"), "the premise: its files are small")
      val error = intercept[Exception](query.collect()).getMessage
      assert(error.contains(
        "[JOINERY_LAST_JOIN.BROADCAST_TOO_LARGE] The right side of a LAST JOIN takes more than 524288 bytes"))
      assert(error.contains("raise spark.joinery.lastJoin.maxBroadcast"))
    }
  }

  test("no rows, or one, are below any limit") {
    withConf(Adaptive :+ ("spark.joinery.lastJoin.maxBroadcast" -> "1b"): _*) {
      for (right <- Seq("(SELECT * FROM few WHERE ts < 0)", "few")) {
        assert(sql(s"SELECT f.id, w.ts FROM facts f LAST JOIN $right w ORDER BY w.ts ON true").collect().length == 2000)
        val hinted =
          s"SELECT /*+ BROADCAST(w) */ f.id, w.ts FROM facts f LAST JOIN $right w ORDER BY w.ts ON f.k = w.k AND f.j <> w.ts"
        assert(sql(hinted).collect().length == 2000)
      }
    }
  }

  test("an empty side, known at run time only") {
    for ((left, right) <-
        Seq("facts" -> "(SELECT * FROM few WHERE ts < 0)", "(SELECT * FROM facts WHERE ts < 0)" -> "few")) {
      withConf(Adaptive: _*) {
        val query = sql(s"SELECT f.id, w.ts FROM $left f LAST JOIN $right w ORDER BY w.ts ON f.k = w.k")
        var rows = Array.empty[Row]
        val log = adaptiveLog { rows = query.collect() }
        assert(!log.exists(_.contains("Invalid broadcast query stage")), log.mkString("\n"))
        assert(rows.length == (if (left == "facts") 2000 else 0) && rows.forall(_.isNullAt(1)))
      }
    }
  }
}
