package io.github.sparkjoinery.window

import java.lang.management.ManagementFactory
import java.util.concurrent.atomic.AtomicLong

import scala.collection.mutable

import com.sun.management.UnixOperatingSystemMXBean

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.joinery.ScarceMemory

import io.github.sparkjoinery.Answers
import io.github.sparkjoinery.window.exec.SlidingWindowExec
import io.github.sparkjoinery.window.runtime.FrameBatches

/** A task of SlidingWindow whose rows do not fit into memory. */
class SpilledWindowSuite extends WindowChecks {

  private val Rows = 4000
  private val Settings = Seq("spark.sql.adaptive.enabled" -> "false", "spark.sql.shuffle.partitions" -> "1")
  private val Adaptive = Seq("spark.sql.adaptive.enabled" -> "true", "spark.sql.shuffle.partitions" -> "4")
  private val SmallBuffer = Seq(
    "spark.sql.windowExec.buffer.in.memory.threshold" -> "50",
    "spark.sql.windowExec.buffer.spill.threshold" -> "120")

  override protected def beforeAll(): Unit = {
    spark.udf.register("scarce", (value: Int, left: Int) => { ScarceMemory.take(left); value })
    spark.udf.register("starved", (value: Int) => { ScarceMemory.takeForGood(); value })
    spark.udf.register("modest", (value: Int, left: Int) => { ScarceMemory.takeForGood(left); value })
    sql(s"""SELECT int(id) AS id, if(id % 9 = 0, NULL, int(id % 7)) AS k, if(id % 11 = 0, NULL, int(hash(id) % 500)) AS o, int(id % 91) AS v,
           |concat('s', id % 13) AS s FROM range(0, $Rows, 1, 2)""".stripMargin).localCheckpoint().createOrReplaceTempView(
      "t")
  }

  override protected def afterAll(): Unit = {
    sql("DROP TEMPORARY FUNCTION scarce")
    sql("DROP TEMPORARY FUNCTION starved")
    sql("DROP TEMPORARY FUNCTION modest")
    super.afterAll()
  }

  /** Calls `scarce` in the task that computes the window. */
  private def input(bytes: Option[Int], keys: String): String = {
    val v = bytes.fold("v")(left => s"scarce(v, $left) AS v")
    s"(SELECT id, k, o, $v, s FROM (SELECT /*+ REPARTITION(1${if (keys.isEmpty) "" else s", $keys"}) */ * FROM t))"
  }

  private def query(keys: String, bytes: Option[Int]): String = {
    val partition = if (keys.isEmpty) "" else s"PARTITION BY $keys"
    s"""SELECT id, sum(v) OVER (w ROWS BETWEEN 30 PRECEDING AND 10 FOLLOWING) AS a, min(s) OVER (w ROWS 5 PRECEDING) AS b,
       |avg(v) OVER (w RANGE BETWEEN CURRENT ROW AND CURRENT ROW) AS c, max_by(s, v) OVER (w ROWS BETWEEN 40 FOLLOWING AND 60 FOLLOWING) AS d,
       |row_number() OVER w AS e FROM ${input(
        bytes,
        keys)} WINDOW w AS ($partition ORDER BY o, id)""".stripMargin.replace("(w ", s"($partition ORDER BY o, id ")
  }

  /** Spark's answers by query. They are the same in all settings. */
  private val known = mutable.Map.empty[String, Seq[String]]
  private def stockRows(text: String): Seq[String] =
    known.getOrElseUpdate(text, onStockWindows(Answers.rows(sql(text))))

  private def spillSize(query: DataFrame): Long =
    collect(plan(query)) { case window: SlidingWindowExec => window.metrics("spillSize").value }.sum

  private def isCut(query: DataFrame): Boolean = plan(query).toString.contains("CopyRows")

  /**
   * Runs the query until memory was scarce, and checks the answer each time. Others in the JVM may give memory back at
   * that moment.
   */
  private def checkSpilled(text: String, answer: Seq[String]): Unit =
    assert(
      Iterator.fill(10) {
        val query = sql(text)
        assert(Answers.rows(query) == answer)
        assert(isSliding(query))
        query
      }.exists(spillSize(_) > 0),
      "nothing was spilled")

  // 0: not one row fits
  for (keys <- Seq("k", "k, s", ""); bytes <- Seq(0, 100000); wholeStage <- Seq("true", "false")) {
    test(s"partitions by ${if (keys.isEmpty) "nothing" else keys}, $bytes bytes left, generated code $wholeStage") {
      withConf(Settings :+ "spark.sql.codegen.wholeStage" -> wholeStage: _*) {
        val answer = stockRows(query(keys, None))
        ScarceMemory.withSpills(rows = 1000)(checkSpilled(query(keys, Some(bytes)), answer))
        withConf(SmallBuffer: _*)(ScarceMemory.withSpills(rows = 300)(checkSpilled(query(keys, Some(bytes)), answer)))
      }
    }
  }

  // one row or none, or some of a task's rows, fit into its share
  for (cores <- Seq(100000000, 20000); wholeStage <- Seq("true", "false"); hint <- Seq("", "/*+ SKEW_WINDOW(4) */")) {
    test(s"a small share of memory, $cores cores, hint $hint, generated code $wholeStage") {
      withConf(
        "spark.sql.adaptive.enabled" -> "true",
        "spark.sql.shuffle.partitions" -> "1",
        "spark.sql.codegen.wholeStage" -> wholeStage) {
        val window = "PARTITION BY k ORDER BY o, id"
        for (last <- Seq("row_number()" /* stays whole */, "lag(s, 2)" /* is cut */ )) {
          val columns =
            s"""id, sum(v) OVER ($window ROWS BETWEEN 30 PRECEDING AND 10 FOLLOWING) AS a, min(s) OVER ($window ROWS 5 PRECEDING) AS b,
            max_by(s, v) OVER ($window ROWS BETWEEN 40 FOLLOWING AND 60 FOLLOWING) AS c, $last OVER ($window) AS d FROM t"""
          val answer = stockRows(s"SELECT $columns")
          ScarceMemory.withSpills(rows = 300)(ScarceMemory.withShareOf(cores) {
            checkSpilled(s"SELECT $hint $columns", answer)
            val query = sql(s"SELECT $hint $columns")
            query.collect()
            assert(isCut(query) == (hint.nonEmpty && last != "row_number()"), plan(query))
          })
        }
      }
    }
  }

  test("sorted rows of a partition larger than the buffer") {
    val inner = "(SELECT id, k, o, v, sum(v) OVER (PARTITION BY k ORDER BY o, id) AS f FROM t)"
    val text =
      s"SELECT id, sum(f) OVER (PARTITION BY k ORDER BY o, id ROWS BETWEEN 300 PRECEDING AND 20 FOLLOWING) AS g FROM $inner"
    withConf(Settings: _*) {
      val answer = onStockWindows(Answers.rows(sql(text)))
      withConf(SmallBuffer: _*)(checkSpilled(text, answer))
    }
  }

  for (bytes <- Seq(Some(0), Some(300000), None); wholeStage <- Seq("true", "false")) {
    val left = bytes.fold("no memory at all, not even for a sort")(bytes => s"$bytes bytes left")
    test(s"hot keys are cut before the shuffle with $left, generated code $wholeStage") {
      val settings = Adaptive ++ Seq("spark.sql.codegen.wholeStage" -> wholeStage)
      withConf(Settings ++ settings: _*) {
        val frame = "PARTITION BY k ORDER BY o, id ROWS BETWEEN 70 PRECEDING AND 20 FOLLOWING"
        val columns = s"""sum(v) OVER ($frame) AS a, min(s) OVER ($frame) AS b,
          lag(v, 3) OVER (PARTITION BY k ORDER BY o, id) AS c"""
        def from(v: String) = s"(SELECT id, if(id % 5 = 1, 1, 0) AS k, o, $v AS v, s FROM t)"
        val answer = onStockWindows(Answers.rows(sql(s"SELECT id, $columns FROM ${from("v")}")))
        for (parts <- Seq(2, 4, 64)) {
          val v = bytes.fold("starved(v)")(bytes => s"scarce(v, $bytes)")
          val query = sql(s"SELECT /*+ SKEW_WINDOW($parts) */ id, $columns FROM ${from(v)}")
          assert(Answers.rows(query) == answer)
          assert(isCut(query), plan(query))
        }
      }
    }
  }

  // The number of cores of an executor in which a task has little memory beyond its share.
  private val Cores = 1000
  private def ofTask: Int = (Runtime.getRuntime.maxMemory * 0.5 / Cores).toInt

  for (wholeStage <- Seq("true", "false"))
    test(s"windows above each other in a task of little memory, generated code $wholeStage") {
      val orders = Seq("o", "v", "o + v", "o - v", "v - o")
      def text(v: String, rows: Int, length: Int) = orders.zipWithIndex.foldLeft(
        s"(SELECT id, k, o, $v AS v, repeat(s, $length) AS s FROM (SELECT /*+ REPARTITION(1, k) */ * FROM t WHERE id < $rows))") {
        case (from, (order, i)) =>
          s"""(SELECT *, max(v) OVER (PARTITION BY k ORDER BY $order, id
        ROWS BETWEEN 30 PRECEDING AND CURRENT ROW) AS m$i FROM $from)"""
      }
      withConf(Settings :+ "spark.sql.codegen.wholeStage" -> wholeStage: _*) {
        // few rows fit, or the rows of one window, or of two
        for ((rows, length) <- Seq(Rows -> 8, Rows -> 14, Rows -> 20, Rows / 10 -> 1000)) {
          val answer = stockRows(s"SELECT * FROM ${text("v", rows, length)}")
          val query = sql(s"SELECT * FROM ${text(s"modest(v, $ofTask)", rows, length)}")
          ScarceMemory.withShareOf(Cores)(assert(Answers.rows(query) == answer))
          assert(collect(plan(query)) { case window: SlidingWindowExec => window }.length == orders.length)
        }
      }
    }

  for (wholeStage <- Seq("true", "false"))
    test(s"hot keys are cut before the shuffle in a task of little memory, generated code $wholeStage") {
      withConf(
        Settings ++ Adaptive :+ "spark.sql.codegen.wholeStage" -> wholeStage: _*) {
        val frame = "PARTITION BY k ORDER BY o, id ROWS BETWEEN 3000 PRECEDING AND 2000 FOLLOWING"
        val columns = s"sum(v) OVER ($frame) AS a, min(s) OVER ($frame) AS b"
        def from(v: String) = s"(SELECT id, if(id % 5 = 1, 1, 0) AS k, o, $v AS v, repeat(s, 50) AS s FROM t)"
        val answer = onStockWindows(Answers.rows(sql(s"SELECT id, $columns FROM ${from("v")}")))
        ScarceMemory.withShareOf(Cores)(for (left <- Seq(ofTask, 2 * ofTask); parts <- Seq(2, 64)) {
          val query = sql(s"SELECT /*+ SKEW_WINDOW($parts) */ id, $columns FROM ${from(s"modest(v, $left)")}")
          assert(Answers.rows(query) == answer)
          assert(isCut(query), plan(query))
        })
      }
    }

  test("a window without a key is cut before the shuffle with no memory at all") {
    withConf(Settings ++ Adaptive: _*) {
      def text(hint: String, v: String) =
        s"""SELECT $hint id, sum(v) OVER (ORDER BY o, id ROWS BETWEEN 70 PRECEDING AND 20 FOLLOWING) AS a
        FROM (SELECT id, o, $v AS v FROM t)"""
      val answer = onStockWindows(Answers.rows(sql(text("", "v"))))
      for (wholeStage <- Seq("true", "false"))
        withConf("spark.sql.codegen.wholeStage" -> wholeStage) {
          val query = sql(text("/*+ SKEW_WINDOW(16) */", "starved(v)"))
          assert(Answers.rows(query) == answer)
          assert(isCut(query), plan(query))
        }
    }
  }

  /** Files that are open at most while a query runs that calls `probe` for its rows, beyond those open before. */
  private def filesOpened(body: => Unit): Long = {
    spark.udf.register("probe", (id: Int) => { OpenFiles.look(); id })
    val before = OpenFiles.now
    OpenFiles.most.set(before)
    try body
    finally sql("DROP TEMPORARY FUNCTION probe")
    OpenFiles.most.get - before
  }

  test("spilled rows are read through few open files, however often they are read") {
    sql("""SELECT id, k, o, if(id = 17, double('Infinity'), double(v)) AS v, CAST(v * 1e36BD AS DECIMAL(38, 0)) AS n
           |FROM t""".stripMargin).localCheckpoint().createOrReplaceTempView("spilled")
    val inner =
      "(SELECT id, k, o, v, n, lag(id) OVER (PARTITION BY k ORDER BY o, id) AS f FROM spilled)" // comes sorted
    val frame = "PARTITION BY k ORDER BY o, id ROWS BETWEEN 40 PRECEDING AND 3 FOLLOWING"
    val text = s"""SELECT probe(id) AS id, f, float(stddev(v) OVER ($frame)) AS a, try_sum(n) OVER ($frame) AS b,
      stddev(v) OVER (PARTITION BY k ORDER BY o, id) AS c, lag(f, 2000) OVER (PARTITION BY k ORDER BY o, id) AS d
      FROM $inner"""
    withConf(Settings: _*) {
      val plain = text.replace("probe(id)", "id")
      val answer = onStockWindows(Answers.rows(sql(plain)))
      withConf(SmallBuffer: _*) {
        val opened = filesOpened(checkSpilled(text, answer))
        assert(opened < 60, s"$opened files were open")
      }
    }
  }

  for (frame <- Seq(
      "ROWS BETWEEN 5000 PRECEDING AND 100 FOLLOWING",
      "ROWS BETWEEN 3000 FOLLOWING AND UNBOUNDED FOLLOWING",
      "RANGE BETWEEN 4000 PRECEDING AND 1000 FOLLOWING",
      "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"
    );
    (order, ansi) <- Seq("o" -> "true", "o DESC" -> "false")) {
    test(s"a frame longer than memory: $frame, ORDER BY $order, ANSI mode $ansi") {
      sql("""SELECT int(id) AS id, int(id % 2) AS k, if(id = 92, NULL, int(pmod(id * 7919, 12007))) AS o,
            |pmod(hash(id), 1000) AS v, double(pmod(hash(id), 1000)) / 4 AS x, concat('s', id % 13) AS s,
            |CAST(pmod(hash(id), 99) AS DECIMAL(38, 2)) AS d FROM range(0, 12000, 1, 1)""".stripMargin)
        .localCheckpoint().createOrReplaceTempView("long")
      val functions = Seq("sum(v)", "avg(v)", "sum(x)", "min(x)", "max(v)", "count(*)", "min(s)", "sum(d)")
      val columns = (functions.map(f => s"$f OVER (PARTITION BY k ORDER BY $order $frame)") :+
        s"row_number() OVER (PARTITION BY k ORDER BY $order)").zipWithIndex.map { case (column, i) =>
        s"$column AS c$i"
      }
      // `scarce` runs in the task that computes the window.
      def text(scarce: String) = s"""SELECT id, y, ${columns.mkString(", ")}
        FROM (SELECT id, k, o, v, x, s, d, $scarce AS y FROM (SELECT /*+ REPARTITION(1, k) */ * FROM long))"""
      withConf(Settings :+ "spark.sql.ansi.enabled" -> ansi: _*) {
        assert(isSliding(sql(text("v"))))
        val plenty = Answers.rows(sql(text("v")))
        // Some suffice for the rows, but not for columns of them.
        for (bytes <- Seq(0, 1900000, 2300000, 2700000, 3100000))
          assert(Answers.rows(sql(text(s"scarce(v, $bytes)"))) == plenty)
        ScarceMemory.withShareOf(cores = 100000000)(assert(Answers.rows(sql(text("v"))) == plenty))
      }
    }
  }

  for (wholeStage <- Seq("true", "false"))
    test(s"what one window takes is free for those above it once it has given its rows, generated code $wholeStage") {
      def window(order: String, from: String) = s"""(SELECT *, max(v) OVER (PARTITION BY k ORDER BY $order, id
        ROWS BETWEEN 30 PRECEDING AND CURRENT ROW) AS m${order.hashCode.abs} FROM $from)"""
      spark.udf.register("held", (id: Int) => { HeldMemory.look(); id })
      withConf(Settings :+ "spark.sql.codegen.wholeStage" -> wholeStage: _*) {
        val few = window("o", "t")
        val many =
          Seq("o", "v", "o + v", "o - v", "v - o").foldLeft("t")((from, order) => window(order.replace(" ", ""), from))
        try {
          val Seq(one, five) = Seq(few, many).map { from =>
            HeldMemory.most.set(0)
            sql(s"SELECT held(id), * FROM $from").collect()
            HeldMemory.most.get
          }
          assert(
            one > 0 && five < 2 * one,
            s"$five bytes are held while the last of five windows gives its rows, $one of one")
        } finally sql("DROP TEMPORARY FUNCTION held")
      }
    }

  test("results of wide rows are few at a time, as nobody knows of their copies") {
    val rows = FrameBatches.rowsAtATime(_, _)
    assert(rows(0, 1 << 30) == FrameBatches.Rows)
    assert(rows(3, 0) == FrameBatches.Rows)
    assert(rows(3, 200) == FrameBatches.Rows)
    assert(rows(2, 1 << 20) == 4)
    assert(rows(1000, Int.MaxValue) == 1)
  }

  for (wholeStage <- Seq("true", "false"))
    test(s"a few wide rows among others, generated code $wholeStage") {
      val wide = "repeat(concat(id, 'x'), if(id % 700 = 5, 200000, if(k = 3, 10000, 1)))"
      val frames = Seq("ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING", "RANGE BETWEEN 1 PRECEDING AND CURRENT ROW", "")
      val aggregates = for (frame <- frames; call <- Seq("max(s)", "min(s)", "sum(v)"))
        yield s"$call OVER (PARTITION BY k ORDER BY o ${if (frame.isEmpty) ", id" else frame})"
      val offsets = Seq("lag(s, 2)", "lead(s)", "lead(v)").map(call => s"$call OVER (PARTITION BY k ORDER BY o, id)")
      def text(from: String) = (aggregates ++ offsets).zipWithIndex.map { case (column, i) =>
        s"$column AS c$i"
      }.mkString("SELECT id, f, ", ", ", s" FROM (SELECT id, k, o, v, f, $wide AS s FROM $from WHERE o IS NOT NULL)")
      def hashed(from: String) =
        s"SELECT id, f, ${(aggregates ++ offsets).indices.map(i => s"hash(c$i)").mkString(", ")} FROM (${text(from)})"
      withConf(Settings :+ "spark.sql.codegen.wholeStage" -> wholeStage: _*) {
        val sorted = "(SELECT *, lag(v) OVER (PARTITION BY k ORDER BY o, id) AS f FROM t)"
        for (from <- Seq("(SELECT *, v AS f FROM t)", sorted)) {
          val query = sql(hashed(from))
          assert(Answers.rows(query) == onStockWindows(Answers.rows(sql(hashed(from)))))
          assert(isSliding(query))
        }
      }
    }

  test("memory is back after a query that is not read to its end") {
    withConf(Settings ++ SmallBuffer: _*) {
      for (bytes <- Seq(None, Some(0))) assert(sql(s"${query("k", bytes)} LIMIT 3").collect().length == 3)
    }
  }

  test("with memory enough nothing is spilled") {
    withConf(Settings: _*) {
      val plenty = sql(query("k", None))
      plenty.collect()
      assert(spillSize(plenty) == 0)
    }
  }
}

/** The most memory that a task holds while it computes its result. */
private object HeldMemory {
  val most = new AtomicLong
  def look(): Unit = most.accumulateAndGet(ScarceMemory.acquired, math.max(_, _))
}

/** The number of files that the JVM has open. */
private object OpenFiles {
  val most = new AtomicLong
  def now: Long = ManagementFactory.getOperatingSystemMXBean match {
    case unix: UnixOperatingSystemMXBean => unix.getOpenFileDescriptorCount
  }
  def look(): Unit = most.accumulateAndGet(now, math.max(_, _))
}
