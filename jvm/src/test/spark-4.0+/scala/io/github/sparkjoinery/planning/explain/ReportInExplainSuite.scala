package io.github.sparkjoinery.planning.explain

import org.apache.spark.sql.execution.{SimpleMode, SparkPlan}
import org.apache.spark.sql.joinery.{DataFrame => ClassicDataFrame}
import org.apache.spark.sql.{DataFrame, ExtendedExplainGenerator}

import io.github.sparkjoinery.LastJoinChecks

/** A provider of EXPLAIN that a user has. */
class OwnExplain extends ExtendedExplainGenerator {
  override def title: String = "own"
  override def generateExtendedInfo(plan: SparkPlan): String = "own words"
}

/** The report in EXPLAIN, which has a place for it from Spark 4.0 on. */
class ReportInExplainSuite extends LastJoinChecks {

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
}
