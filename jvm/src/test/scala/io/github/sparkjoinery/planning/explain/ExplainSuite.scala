package io.github.sparkjoinery.planning.explain

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

import org.apache.spark.sql.classic.{DataFrame => ClassicDataFrame}
import org.apache.spark.sql.execution.{SimpleMode, SparkPlan}
import org.apache.spark.sql.functions.broadcast
import org.apache.spark.sql.{DataFrame, ExtendedExplainGenerator}

import io.github.sparkjoinery.LastJoinChecks

/** A provider of EXPLAIN that a user has. */
class OwnExplain extends ExtendedExplainGenerator {
  override def title: String = "own"
  override def generateExtendedInfo(plan: SparkPlan): String = "own words"
}

/** What Joinery says about a query's joins and windows. */
class ExplainSuite extends LastJoinChecks {

  override protected def beforeAll(): Unit = views(
    "l" -> "SELECT id, id % 2 AS k, id AS ts FROM range(4)",
    "r" -> "SELECT id % 2 AS k, id AS ts FROM range(6)")

  private val lastJoin = "SELECT l.id, r.ts FROM l l LAST JOIN r ORDER BY r.ts ON l.k = r.k"

  private def explained(query: String): String = sql(s"EXPLAIN $query").head().getString(0)

  private val Title = "== Extended Information (Joinery) =="

  for (adaptive <- Seq("true", "false")) {
    test(s"the report in EXPLAIN, when asked for; adaptive execution $adaptive") {
      withConf("spark.sql.adaptive.enabled" -> adaptive) {
        val early = sql(lastJoin)
        assert(!explained(lastJoin).contains(Title))
        withConf("spark.joinery.explain" -> "true") {
          for (form <- Seq("", "FORMATTED ", "EXTENDED ")) {
            val shown = explained(form + lastJoin)
            assert(shown.contains(s"$Title\nBroadcastLastJoin: the right side is small ("), shown)
          }
          val stock =
            explained("SELECT l.id, sum(r.ts) OVER (PARTITION BY l.k ORDER BY r.ts) AS s FROM l JOIN r ON l.ts <> r.ts")
          assert(stock.contains("BroadcastNestedLoopJoin: an ordinary join"), stock)
          assert(stock.contains("Window: its frames only grow"), stock)
          assert(explained("SELECT count(*) FROM l").contains(s"$Title\nno join or window"))
          assert(shownBy(early).contains(Title))
        }
        assert(!explained(lastJoin).contains(Title))
      }
    }
  }

  private def shownBy(query: DataFrame): String =
    query.asInstanceOf[ClassicDataFrame].queryExecution.explainString(SimpleMode)

  test("the report stands next to what the user's own providers show") {
    val own = classOf[OwnExplain].getName
    withConf("spark.sql.extendedExplainProviders" -> own, "spark.joinery.explain" -> "true") {
      val shown = explained(lastJoin)
      assert(shown.contains("own words") && shown.contains("BroadcastLastJoin: the right side"), shown)
    }
  }

  test("the report names joins of a cached table and of a query that is written") {
    withConf("spark.joinery.explain" -> "true") {
      val cached = sql(lastJoin).persist()
      try assert(shownBy(cached.where("id > 1")).contains("BroadcastLastJoin: the right side"))
      finally cached.unpersist(blocking = true)
      withTables("t") {
        sql("CREATE TABLE t (id BIGINT, ts BIGINT) USING parquet")
        assert(explained(s"INSERT INTO t $lastJoin").contains("BroadcastLastJoin: the right side"))
      }
    }
  }

  test("each join and window of a query has its reason") {
    checkDecision(lastJoin, "the right side is small")
    checkDecision(lastJoin.replace("SELECT ", "SELECT /*+ MERGE(r) */ "), "hint")
    checkDecision("SELECT * FROM l JOIN r ON l.k = r.k", "an ordinary join, which Spark's operator serves")
    checkDecision("SELECT /*+ MERGE(r) */ * FROM l LEFT JOIN r ON l.k = r.k AND l.ts < r.ts", "hint merge")
    checkDecision("SELECT * FROM l CROSS JOIN r", "an ordinary join")
    checkDecision("SELECT rank() OVER (ORDER BY ts) FROM l", "its frames only grow")
  }

  test("the report as JSON, before and after the query has run") {
    val query =
      sql(s"SELECT x.id, y.k FROM ($lastJoin) x JOIN r y ON x.ts = y.ts WHERE x.id < (SELECT max(r.ts) FROM l l LAST JOIN r ON l.k = r.k)")
    def entries: Seq[JsonNode] = {
      val json = new ObjectMapper().readTree(PlanReport.json(query.queryExecution))
      (0 until json.size).map(json.get)
    }
    for (_ <- 1 to 2) {
      assert(entries.map(entry => (entry.get("kind").asText, entry.get("joinery").asBoolean)).sortBy(_._2) ==
        Seq(("join", false), ("join", true), ("join", true)))
      val ours = entries.filter(_.get("joinery").asBoolean)
      assert(ours.forall(_.get("operator").asText == "BroadcastLastJoin"))
      assert(entries.forall(entry => entry.get("reason").asText.nonEmpty && entry.get("detail").asText.nonEmpty))
      query.collect()
    }
  }

  test("a DataFrame hint is a reason, too") {
    withConf("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
      broadcast(spark.table("r")).createOrReplaceTempView("r_hinted")
      checkDecision(lastJoin.replace("JOIN r ", "JOIN r_hinted r "), "hint")
    }
  }

  test("ORDER BY after ON, which sorts the result, is a reason to be told that any match is taken") {
    val note = "it has no ORDER BY of its own, so any match is taken; the ORDER BY after ON sorts the result"
    def reasons(query: String): Seq[String] = PlanReport.readFrom(plan(sql(query))).map(_.reason)
    val select = "SELECT l.id, r.ts, r.k FROM l l LAST JOIN r"
    for (suspicious <- Seq(
        s"$select ON l.k = r.k ORDER BY r.ts",
        s"$select USING (k) ORDER BY r.ts DESC, l.id LIMIT 3",
        "SELECT * FROM (SELECT l.id, r.k FROM l l LAST JOIN r ON l.k = r.k ORDER BY r.ts + l.id) WHERE id > 1",
        "SELECT * FROM (SELECT l.id, r.ts FROM l l LAST JOIN r ON l.k = r.k ORDER BY r.ts) WHERE ts > 1", // of both sides
        "SELECT /*+ MERGE(r) */ l.id, r.ts FROM l l LAST JOIN r ON l.k = r.k ORDER BY r.ts",
        "SELECT * FROM l WHERE id IN (SELECT r.ts FROM l l LAST JOIN r ON l.k = r.k ORDER BY r.ts LIMIT 2)"
      )) {
      checkDecision(suspicious, note)
    }
    for (plain <- Seq(
        s"$select ORDER BY r.ts ON l.k = r.k ORDER BY r.ts",
        s"$select ON l.k = r.k",
        s"$select ON l.k = r.k ORDER BY l.id",
        s"$select ON l.k = r.k WHERE r.ts > 1 ORDER BY r.ts",
        s"$select ON l.k = r.k JOIN r s ON s.ts = l.id ORDER BY r.ts"
      )) {
      assert(!reasons(plain).exists(_.contains(note)), plain)
    }
  }
}
