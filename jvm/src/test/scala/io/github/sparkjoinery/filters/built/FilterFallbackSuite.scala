package io.github.sparkjoinery.filters.built

import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.memory.SparkOutOfMemoryError
import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.functions.udf
import org.apache.spark.sql.joinery.ScarceMemory
import org.apache.spark.{SparkException, TaskContext}

import io.github.sparkjoinery.Answers
import io.github.sparkjoinery.planning.explain.PlanReport

/** Where no filter can be built, or not in time; and hints. */
class FilterFallbackSuite extends BuiltFilters {

  private val Query = "SELECT f.id, s.name FROM fact f JOIN small s ON f.k = s.k WHERE s.class = 3"

  private def whyNone(query: String, settings: (String, String)*): Option[String] = {
    val answer = checkBuilt(query, 1, settings: _*)
    builds(answer).flatMap(whyMissing).headOption
  }

  private def activeJobs: Set[String] = spark.sparkContext.statusTracker.getActiveJobIds().map(_.toString).toSet

  /** That a job has been cancelled may be told a moment later. */
  private def checkNoJobLeft(): Unit = {
    val deadline = System.nanoTime() + 3000000000L
    while (activeJobs.nonEmpty && System.nanoTime() < deadline) Thread.sleep(50)
    assert(activeJobs.isEmpty, "a job is left")
  }

  /** A build that computes this for each row, and has less time than that takes. */
  private def checkLate(timeout: String, milliseconds: Int)(compute: Int => Int)(check: => Unit = ()): Unit = {
    spark.udf.register("slow", udf(compute))
    try {
      val why = whyNone(
        "SELECT f.id, s.name FROM fact f JOIN small s ON f.k = s.k WHERE slow(s.class) = 3 AND s.name LIKE 'N%'",
        "spark.joinery.runtimeFilter.buildTimeout" -> timeout
      )
      val reason = s"it was not built within spark.joinery.runtimeFilter.buildTimeout ($milliseconds ms)"
      assert(why.exists(_.contains(reason)), why)
      checkNoJobLeft()
      check
    } finally sql("DROP TEMPORARY FUNCTION slow")
  }

  test("the build takes too long: the query runs unfiltered, and the build's jobs are cancelled") {
    checkLate("100ms", 100) { k => Thread.sleep(4); k }()
    assert(whyNone(Query, "spark.joinery.runtimeFilter.buildTimeout" -> "0").isDefined)
    assert(whyNone(Query).isEmpty)
  }

  test("a build that is late before its first job begins is cancelled") {
    checkLate("0", 0) { k =>
      if (FilterFallbackSuite.isBuild) {
        FilterFallbackSuite.rowsOfBuilds.incrementAndGet()
        Thread.sleep(20)
      }
      k
    } { assert(FilterFallbackSuite.rowsOfBuilds.getAndSet(0) < 300, "the build went on") }
  }

  test("too many keys: bounds only") {
    val answer = checkBuilt(Query, 1, "spark.joinery.runtimeFilter.maxKeys" -> "39")
    val passed = collect(plan(answer)) {
      case filter: FilterExec if filter.condition.toString.contains("joinery") => filter.metrics("numOutputRows").value
    }
    assert(passed.sum > 3000 && passed.sum < 5000, passed) // keys from 3 to 393 of 2000
    assert(builds(answer).head.metrics("keys").value == 0)
    assert(builds(checkBuilt(Query, 1, "spark.joinery.runtimeFilter.maxKeys" -> "40")).head.metrics("keys").value == 40)
  }

  /** What has to be computed of each row of the small side, by tasks that build the filter. */
  private def whileBuilding[T](compute: () => Unit)(body: => T): T = {
    spark.udf.register("building", udf { (k: Int) => if (FilterFallbackSuite.isBuild) compute(); k })
    try body
    finally sql("DROP TEMPORARY FUNCTION building")
  }

  private val Building =
    "SELECT /*+ RUNTIME_FILTER(s) */ f.id, s.name FROM fact f JOIN small s ON f.k = s.k WHERE building(s.class) < 9"

  test("a task without memory for the keys gives them up: bounds only") {
    def built() = builds(checkBuilt(Building, 1)).head
    val none = whileBuilding(() => ScarceMemory.takeAll())(built())
    assert(none.metrics("keys").value == 0 && whyMissing(none).exists(_.contains("than a task has memory for")))
    assert(whileBuilding(() => ())(built()).metrics("keys").value > 300)
  }

  test("a build that fails for want of memory fails no query") {
    val why = whileBuilding { () =>
      throw new SparkOutOfMemoryError(
        "UNABLE_TO_ACQUIRE_MEMORY",
        java.util.Map.of("requestedBytes", "1", "receivedBytes", "0"))
    }(whyNone(Building))
    assert(why.exists(_.contains("building it failed")), why)
  }

  test("a small side that fails fails the query as it does without a filter") {
    val failing = "SELECT f.id FROM fact f JOIN small s ON f.k = s.k WHERE 10 / (s.k - 3) > 1"
    for (build <- Seq("true", "false")) {
      withConf(Shuffled :+ "spark.joinery.runtimeFilter.build.enabled" -> build: _*) {
        val failure = intercept[Exception](sql(failing).collect())
        val causes = Iterator.iterate[Throwable](failure)(_.getCause).takeWhile(_ != null).toSeq
        assert(causes.exists(_.getMessage.contains("DIVIDE_BY_ZERO")), failure)
      }
    }
  }

  test("a cancelled query is cancelled, and leaves no job") {
    spark.udf.register("slow", udf { (k: Int) => Thread.sleep(100); k })
    try {
      withConf(Shuffled: _*) {
        val sc = spark.sparkContext
        val group = "to cancel"
        val running = new Thread(() => {
          while (sc.statusTracker.getJobIdsForGroup(group).isEmpty) Thread.sleep(10)
          Thread.sleep(300)
          sc.cancelJobGroup(group)
        })
        running.start()
        sc.setJobGroup(group, "a query that is cancelled", interruptOnCancel = true)
        try {
          val failure = intercept[SparkException](
            sql(
              "SELECT f.id FROM fact f JOIN small s ON f.k = s.k WHERE slow(s.class) = 3 AND s.name LIKE 'N%'").collect())
          assert(failure.getMessage.contains("ancelled"), failure)
        } finally {
          sc.clearJobGroup()
          running.join()
        }
        checkNoJobLeft()
      }
    } finally sql("DROP TEMPORARY FUNCTION slow")
  }

  test("an empty small side, and one without a key that is not NULL") {
    for (query <- Seq(
        "SELECT f.id FROM fact f JOIN (SELECT * FROM small WHERE class = 77) s ON f.k = s.k",
        "SELECT f.id FROM fact f JOIN (SELECT * FROM small WHERE name = 'N50') s ON f.k = s.k",
        "SELECT s.name, f.id FROM (SELECT * FROM small WHERE name = 'N50') s LEFT JOIN fact f ON f.k = s.k"
      )) {
      checkBuilt(query, 1, Whole)
      withConf(Shuffled: _*)(sql(query).collect()) // adaptive execution may drop the join
    }
  }

  // reasons

  /** What Spark's UI shows of a query that has just run: the metrics that have a value, and the nodes' texts. */
  private def shown(query: String, settings: (String, String)*): (Map[String, String], String) =
    withConf(Shuffled ++ settings: _*) {
      val store = spark.sharedState.statusStore
      val before = store.executionsList().map(_.executionId).toSet
      sql(query).collect()
      def ended = store.executionsList().find(one => !before(one.executionId) && one.completionTime.isDefined)
      val deadline = System.nanoTime() + 10000000000L
      while (ended.isEmpty && System.nanoTime() < deadline) Thread.sleep(20)
      val id = ended.get.executionId
      val (nodes, values) = (store.planGraph(id).allNodes, store.executionMetrics(id))
      val metrics = nodes.flatMap(_.metrics).flatMap(m => values.get(m.accumulatorId).map(m.name -> _))
      (metrics.toMap, store.execution(id).get.physicalPlanDescription)
    }

  test("the UI shows why a filter is missing, and where one is switched off") {
    val missing = Seq("not built: late", "not built: too many keys", "not built: failed")
    val broken =
      "SELECT /*+ RUNTIME_FILTER(s) */ f.id FROM fact f JOIN small s ON f.k = s.k WHERE building(s.class) < 9"
    def fail(): Unit = throw new SparkOutOfMemoryError("UNABLE_TO_ACQUIRE_MEMORY", java.util.Map.of())
    def reasons(found: (Map[String, String], String)) = missing.filter(found._1.contains)
    assert(reasons(shown(Query)).isEmpty)
    assert(reasons(shown(Query, "spark.joinery.runtimeFilter.buildTimeout" -> "0")) == missing.take(1))
    assert(reasons(shown(Query, "spark.joinery.runtimeFilter.maxKeys" -> "39")) == missing.slice(1, 2))
    assert(reasons(whileBuilding(() => fail())(shown(broken))) == missing.drop(2))
    // of bounds alone no keys are wished for
    val range =
      "SELECT s.name, f.id FROM small s JOIN fact f ON f.day <= s.day AND f.day > s.day - 14 WHERE s.name = 'N113'"
    assert(reasons(shown(range)).isEmpty)
    val all = "SELECT /*+ RUNTIME_FILTER(g) */ count(*) FROM fact f JOIN fact g ON f.id = g.id"
    assert(shown(all)._1.get("tasks that stopped testing: most rows passed").exists(_.toInt > 0))
    val unselective = "SELECT f.id FROM fact f JOIN small s ON f.k = s.k"
    val (_, text) = shown(unselective, "spark.joinery.explain" -> "true")
    assert(text.contains("no predicate makes its keys few"), text)
  }

  private def reason(query: String, settings: (String, String)*): String =
    withConf(Shuffled ++ settings: _*)(PlanReport.readFrom(plan(sql(query))).mkString("; "))

  for ((query, settings, expected) <- Seq(
      ("SELECT f.id FROM fact f JOIN small s ON f.k = s.k", Nil, "no predicate makes its keys few"),
      // a dimension has every key of the facts that it is joined with, so that it says nothing of other facts
      (
        """SELECT f.n, t.w FROM (SELECT /*+ BROADCAST(r) */ f.k, count(*) AS n FROM fact f
           JOIN (SELECT int(id) AS k FROM range(20)) r ON f.k = r.k GROUP BY f.k) f JOIN second t ON t.k = f.k""",
        Nil,
        "a table that is joined with others first"),
      (
        "SELECT a.id FROM fact a JOIN fact b ON a.id = b.k2 WHERE b.id > 5",
        Nil,
        "its predicates may leave most keys"),
      (
        "SELECT f.id FROM fact f JOIN small s ON f.k = s.k WHERE f.name = 'N3' AND s.name = 'N5'",
        Nil,
        "or the other side has few rows already"),
      (
        "SELECT s.w, f.id FROM (SELECT * FROM second WHERE w < 9) s LEFT JOIN (SELECT id, k FROM fact WHERE id < 9) f ON f.k = s.k",
        Nil,
        "too much for"),
      (
        "SELECT f.id FROM fact f JOIN (SELECT *, rand(5) AS r FROM small WHERE class = 3) s ON f.k = s.k AND s.r < 0.5",
        Nil,
        "no filter is built: "),
      (
        "SELECT f.id FROM fact f JOIN (SELECT k, collect_list(name) AS n FROM small GROUP BY k HAVING size(n) > 3) s ON f.k = s.k",
        Nil,
        "no filter is built: ")
    )) {
    test(s"$expected: $query") {
      assert(reason(query, settings: _*).contains(expected), reason(query, settings: _*))
      checkBuilt(query, 0, settings: _*)
    }
  }

  test("the joins that IN and EXISTS become say why they have no filter") {
    for ((query, expected) <- Seq(
        "SELECT id FROM fact WHERE k IN (SELECT k FROM small)" -> "no predicate makes its keys few",
        "SELECT id FROM fact f WHERE EXISTS (SELECT * FROM small s WHERE s.k = f.k AND s.b < f.b)" ->
          "no predicate makes its keys few",
        "SELECT id FROM fact f WHERE NOT EXISTS (SELECT * FROM small s WHERE s.k = f.k)" ->
          "too much for",
        "SELECT id FROM fact f WHERE f.id = 5 OR EXISTS (SELECT * FROM small s WHERE s.k = f.k)" -> "no filter is built"
      )) checkNone(query, expected)
  }

  test("keys of a table that are known for one join serve the next") {
    val few = "(SELECT int(id) AS k FROM range(20))"
    checkBuilt(s"SELECT f.id, t.w FROM $few r JOIN fact f ON f.k = r.k JOIN second t ON t.k = f.k", 2)
  }

  test("both ends of a range make keys few") {
    checkBuilt("SELECT a.id FROM fact a JOIN fact b ON a.id = b.k2 WHERE b.id > 5 AND b.id <= 900", 1)
    checkBuilt("SELECT a.id FROM fact a JOIN fact b ON a.id = b.k2 WHERE b.id > 5 AND b.b <= 9", 0)
  }

  test("no joins that are broadcast, and no small sides") {
    checkBuilt(Query, 0, "spark.sql.autoBroadcastJoinThreshold" -> "10MB")
    checkBuilt(Query.replace("SELECT", "SELECT /*+ BROADCAST(s) */"), 0)
    checkBuilt(Query, 0, "spark.joinery.runtimeFilter.applicationSideMinSize" -> "1GB")
    checkBuilt(Query, 0, "spark.joinery.runtimeFilter.enabled" -> "false")
  }

  // hints

  test("a hint skips the check of costs") {
    val unselective = "SELECT /*+ RUNTIME_FILTER(s) */ f.id FROM fact f JOIN small s ON f.k = s.k"
    checkBuilt(unselective, 1)
    checkBuilt(unselective, 1, "spark.joinery.runtimeFilter.applicationSideMinSize" -> "1GB")
    checkBuilt("SELECT /*+ RUNTIME_FILTER(f) */ f.id FROM fact f JOIN small s ON f.k = s.k WHERE f.id < 5000", 1)
    checkBuilt("SELECT /*+ RUNTIME_FILTER(s), MERGE(s) */ f.id FROM fact f JOIN small s ON f.k = s.k", 1)
    withConf(Shuffled: _*) {
      val hinted = spark.table("fact").join(spark.table("small").hint("runtime_filter"), "k").select("id")
      val expected = withConf(Off)(Answers.rows(spark.table("fact").join(spark.table("small"), "k").select("id")))
      assert(Answers.rows(hinted) == expected && testsIn(hinted) == 1)
    }
    assert(reason("SELECT /*+ RUNTIME_FILTER(s) */ f.id FROM fact f LEFT JOIN small s ON f.k = s.k").contains(
      "hint RUNTIME_FILTER: the other side cannot be filtered by its keys"))
    val failure =
      intercept[Exception](sql("SELECT /*+ RUNTIME_FILTER(s, 5) */ f.id FROM fact f JOIN small s ON f.k = s.k"))
    assert(failure.getMessage.contains("The hint RUNTIME_FILTER takes the names or aliases of relations"), failure)
  }

  test("a hint on a join that is broadcast builds no filter where nothing is shuffled") {
    val query = "SELECT /*+ RUNTIME_FILTER(s) */ f.id FROM fact f JOIN small s ON f.k = s.k"
    checkBuilt(query, 0, "spark.sql.autoBroadcastJoinThreshold" -> "10MB")
    val broadcast = query.replace("RUNTIME_FILTER(s)", "RUNTIME_FILTER(s), BROADCAST(s)")
    checkBuilt(broadcast, 0)
    val why = "hint RUNTIME_FILTER: the join is broadcast, and no shuffle would be saved"
    assert(reason(broadcast).contains(why), reason(broadcast))
    checkBuilt(broadcast.replace("fact f", "(SELECT k, max(id) AS id FROM fact GROUP BY k) f"), 1)
    val joined = broadcast.replace("fact f", "(SELECT f.k, f.id FROM fact f JOIN second t ON f.k2 = t.k2) f")
    checkBuilt(joined, 1)
    checkBuilt(joined.replace("(SELECT f.k", "(SELECT /*+ BROADCAST(t) */ f.k"), 0)
    val lastJoin =
      "SELECT /*+ RUNTIME_FILTER(s), BROADCAST(t) */ s.k, t.w FROM small s LAST JOIN second t ORDER BY t.w ON s.k = t.k"
    checkBuilt(lastJoin, 0)
    checkBuilt(lastJoin.replace(", BROADCAST(t)", ""), 1)
  }

  test("a filter is no part of another subquery over the same table") {
    val answer = checkBuilt(
      "SELECT f.id, (SELECT max(k) FROM small WHERE class = 3) AS m FROM fact f JOIN small s ON f.k = s.k WHERE s.class = 3",
      1)
    assert(builds(answer).nonEmpty)
  }
}

object FilterFallbackSuite {

  /** Whether the running task builds a filter. */
  def isBuild: Boolean = {
    val tags = Option(TaskContext.get()).map(_.getLocalProperty("spark.job.tags")).orNull
    tags != null && tags.contains("joinery-filter-")
  }

  /** Rows of which tasks that build a filter have computed a slow function. */
  val rowsOfBuilds = new AtomicInteger
}
