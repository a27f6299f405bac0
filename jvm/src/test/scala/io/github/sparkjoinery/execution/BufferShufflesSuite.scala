package io.github.sparkjoinery.execution

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.exchange.{ReusedExchangeExec, ShuffleExchangeExec}
import org.apache.spark.sql.joinery.BufferedExchange

import io.github.sparkjoinery.{Answers, JoinerySession}

/** The exchanges whose rows pass through buffers. */
class BufferShufflesSuite extends JoinerySession with AdaptiveSparkPlanHelper {
  private val Enabled = "spark.joinery.bufferedShuffle.enabled"
  private val Width = "spark.joinery.shuffleWidth"

  override protected def beforeAll(): Unit = views(
    "trades" -> "SELECT id, id % 300 AS k, id % 1000 AS at, repeat('x', id % 50) AS pad FROM range(5000)",
    "quotes" -> "SELECT id AS q, if(id % 9 = 0, NULL, id % 500) AS k, id % 900 AS at FROM range(3000)"
  )

  private val LastJoin =
    "SELECT t.id, t.pad, q.q FROM trades t LAST JOIN quotes q ORDER BY q.at, q.q ON t.k = q.k AND q.at <= t.at"
  private val Stock = "SELECT t.id, t.pad, q.q FROM trades t JOIN quotes q USING (k, at)"

  private def plan(answer: DataFrame) =
    answer.asInstanceOf[org.apache.spark.sql.joinery.DataFrame].queryExecution.executedPlan

  private def exchanges(answer: DataFrame): Seq[ShuffleExchangeExec] = collect(plan(answer)) {
    case exchange: ShuffleExchangeExec => exchange
  }

  /** Whether each exchange of a query has a buffer. The answer is that without one. */
  private def areBuffered(query: String, settings: (String, String)*): Seq[Boolean] =
    withConf("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
      withConf(settings: _*) {
        val (expected, bytes) = withConf(Enabled -> "false") {
          val answer = sql(query)
          (Answers.rows(answer), exchanges(answer).map(_.metrics("dataSize").value))
        }
        val answer = sql(query)
        assert(Answers.rows(answer) == expected)
        assert(exchanges(answer).map(_.metrics("dataSize").value) == bytes)
        exchanges(answer).map(_.isInstanceOf[BufferedExchange])
      }
    }

  test("those of plans with an operator of Joinery, and of all plans on request") {
    assert(areBuffered(LastJoin) == Seq(true, true))
    assert(areBuffered(LastJoin, Width -> "off") == Seq(true, true))
    assert(areBuffered(Stock) == Seq(false, false))
    assert(areBuffered(Stock, Width -> "all") == Seq(true, true))
  }

  for (partitions <- Seq("5", "300")) // above 200, Spark's writer sorts the rows into one file
    test(s"written for $partitions partitions") {
      assert(areBuffered(LastJoin, "spark.sql.shuffle.partitions" -> partitions) == Seq(true, true))
    }

  test("a sort, an aggregate and a repartition in one plan") {
    val query =
      s"SELECT k, count(*) AS n, max(q) AS q FROM (SELECT /*+ REPARTITION(3) */ id % 7 AS k, q FROM ($LastJoin)) " +
        "GROUP BY k ORDER BY n, k"
    assert(areBuffered(query).forall(identity) && areBuffered(query).length >= 5)
  }

  test("equal exchanges are still one") {
    withConf("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
      val answer = sql(
        "SELECT t.id, q.id AS other FROM trades t LAST JOIN trades q ORDER BY q.at, q.id ON t.k = q.k AND q.at <= t.at")
      answer.collect()
      assert(collect(plan(answer)) { case reused: ReusedExchangeExec => reused }.length == 1)
      assert(exchanges(answer).distinct.length == 1)
    }
  }
}
