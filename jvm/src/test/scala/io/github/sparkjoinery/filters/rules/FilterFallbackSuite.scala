package io.github.sparkjoinery.filters.rules

import org.apache.spark.SparkException
import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.functions.udf

import io.github.sparkjoinery.Answers
import io.github.sparkjoinery.planning.explain.PlanReport

/** Joins that get no filter, the reasons for it, and hints. */
class FilterFallbackSuite extends BuiltFilters {

  private val Query = "SELECT f.id, s.name FROM fact f JOIN small s ON f.k = s.k WHERE s.class = 3"

  private def activeJobs: Set[String] = spark.sparkContext.statusTracker.getActiveJobIds().map(_.toString).toSet

  /** Asserts that no job is active. The cancellation of a job may be reported a moment later. */
  private def checkNoJobLeft(): Unit = {
    val deadline = System.nanoTime() + 3000000000L
    while (activeJobs.nonEmpty && System.nanoTime() < deadline) Thread.sleep(50)
    assert(activeJobs.isEmpty, "a job is left")
  }

  test("too many keys: bounds only") {
    val answer = checkBuilt(Query, 0, "spark.joinery.runtimeFilter.maxKeys" -> "39")
    val passed = collect(plan(answer)) {
      case filter: FilterExec if filter.condition.toString.contains("<= 393") => filter.metrics("numOutputRows").value
    }
    assert(passed.sum > 3000 && passed.sum < 5000, passed) // keys from 3 to 393 of 2000
    assert(keysIn(answer).isEmpty)
    assert(keysIn(checkBuilt(Query, 1, "spark.joinery.runtimeFilter.maxKeys" -> "40")).map(_._1) == Seq(40))
    checkBuilt(Query, 0, "spark.joinery.runtimeFilter.maxKeys" -> "3") // more than ten rows for each
  }

  test("a bound that raises an error for a row that matches nothing") {
    val small = "(SELECT if(k = 13, 5000, k) AS k, name FROM small WHERE class = 3)"
    checkBuilt(s"SELECT f.id, s.name FROM fact f JOIN $small s ON f.k = s.k AND f.b <= 200000 div (5000 - s.k)", 1)
  }

  test("a small side that fails fails the query as it does without a filter") {
    val failing = "SELECT f.id FROM fact f JOIN small s ON f.k = s.k WHERE 10 / (s.k - 3) > 1"
    for (build <- Seq("true", "false")) {
      withConf(Shuffled :+ "spark.joinery.runtimeFilter.build.enabled" -> build: _*) {
        val failure = intercept[Exception](sql(failing).collect())
        val causes = Iterator.iterate[Throwable](failure)(_.getCause).takeWhile(_ != null).toVector
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

  private def reason(query: String, settings: (String, String)*): String =
    withConf(Shuffled ++ settings: _*)(PlanReport.readFrom(plan(sql(query))).mkString("; "))

  for ((query, settings, expected) <- Seq(
      ("SELECT f.id FROM fact f JOIN small s ON f.k = s.k", Nil, "no predicate makes its keys few"),
      // a dimension has every key of the facts that it is joined with, so it drops none of other facts
      (
        """SELECT f.n, t.w FROM (SELECT /*+ BROADCAST(r) */ f.k, count(*) AS n FROM fact f
           JOIN (SELECT int(id) AS k FROM range(20)) r ON f.k = r.k GROUP BY f.k) f JOIN second t ON t.k = f.k""",
        Nil,
        "no predicate makes its keys few"),
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

  test("a hint on a join that is broadcast builds no filter, and says so") {
    val query = "SELECT /*+ RUNTIME_FILTER(s) */ f.id FROM fact f JOIN small s ON f.k = s.k"
    checkBuilt(query, 0, "spark.sql.autoBroadcastJoinThreshold" -> "10MB")
    val broadcast = query.replace("RUNTIME_FILTER(s)", "RUNTIME_FILTER(s), BROADCAST(s)")
    checkBuilt(broadcast, 0)
    val why = "hint RUNTIME_FILTER: the join is broadcast, and no shuffle would be saved"
    assert(reason(broadcast).contains(why), reason(broadcast))
    checkBuilt(broadcast.replace("fact f", "(SELECT k, max(id) AS id FROM fact GROUP BY k) f"), 0)
    val lastJoin =
      "SELECT /*+ RUNTIME_FILTER(s), BROADCAST(t) */ s.k, t.w FROM small s LAST JOIN second t ORDER BY t.w ON s.k = t.k"
    checkBuilt(lastJoin, 0)
    checkBuilt(lastJoin.replace(", BROADCAST(t)", ""), 1)
  }

  test("a filter is no part of another subquery over the same table") {
    val answer = checkBuilt(
      "SELECT f.id, (SELECT max(k) FROM small WHERE class = 3) AS m FROM fact f JOIN small s ON f.k = s.k WHERE s.class = 3",
      1)
    assert(keysIn(answer).nonEmpty)
  }
}
