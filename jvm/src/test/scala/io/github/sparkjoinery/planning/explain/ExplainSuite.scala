package io.github.sparkjoinery.planning.explain

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

import org.apache.spark.sql.functions.broadcast

import io.github.sparkjoinery.LastJoinChecks

/** What Joinery says about a query's joins and windows. */
class ExplainSuite extends LastJoinChecks {

  override protected def beforeAll(): Unit = views(
    "l" -> "SELECT id, id % 2 AS k, id AS ts FROM range(4)",
    "r" -> "SELECT id % 2 AS k, id AS ts FROM range(6)")

  private val lastJoin = "SELECT l.id, r.ts FROM l l LAST JOIN r ORDER BY r.ts ON l.k = r.k"

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
