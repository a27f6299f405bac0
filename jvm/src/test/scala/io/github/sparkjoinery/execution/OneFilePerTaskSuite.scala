package io.github.sparkjoinery.execution

import org.apache.spark.SparkEnv
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec

import io.github.sparkjoinery.{Answers, JoinerySession}

/** A partition more than those of which a task opens a file for each. */
class OneFilePerTaskSuite extends JoinerySession with AdaptiveSparkPlanHelper {
  private val Threshold = "spark.shuffle.sort.bypassMergeThreshold"

  override protected def beforeAll(): Unit = views(
    "trades" -> "SELECT id, id % 300 AS k, id % 1000 AS at, id % 7 AS j FROM range(5000)",
    "quotes" -> "SELECT id AS q, id % 500 AS k, id % 900 AS at, id % 7 AS j FROM range(3000)"
  )

  private val LastJoin =
    "SELECT t.id, q.q FROM trades t LAST JOIN quotes q ORDER BY q.at, q.q ON t.k = q.k AND q.at <= t.at"

  // Spark estimates all of the rows that it filters, so that few are enough to look many.
  private val OneOfTwenty = "id % 20 = 0"

  /** Partitions of each shuffle, with files opened up to so many of them. */
  private def shuffles(
      query: String,
      most: Int,
      partitions: Int,
      settings: (String, String)*): Seq[Int] = {
    val quiet =
      Seq("spark.sql.autoBroadcastJoinThreshold" -> "-1", "spark.sql.shuffle.partitions" -> partitions.toString)
    val expected = withConf(quiet ++ settings: _*)(Answers.rows(sql(query)))
    SparkEnv.get.conf.set(Threshold, most.toString)
    try withConf(quiet ++ settings: _*) {
        val answer = sql(query)
        assert(Answers.rows(answer) == expected)
        exchanges(answer).map(_.outputPartitioning.numPartitions)
      }
    finally SparkEnv.get.conf.remove(Threshold)
  }

  private def exchanges(answer: DataFrame): Seq[ShuffleExchangeExec] = collect(
    answer.asInstanceOf[org.apache.spark.sql.classic.DataFrame].queryExecution.executedPlan) {
    case exchange: ShuffleExchangeExec => exchange
  }

  test("one more below an operator of Joinery") {
    assert(shuffles(LastJoin, most = 5, partitions = 5) == Seq(6, 6))
    assert(shuffles(LastJoin, most = 200, partitions = 192) == Seq(201, 201))
  }

  test("shuffles of the whole plan, so that its joins still meet") {
    val chain =
      s"SELECT a.id, a.q, b.n FROM ($LastJoin) a JOIN (SELECT k, count(*) AS n FROM quotes GROUP BY k) b ON a.id = b.k"
    val partitions = shuffles(chain, most = 5, partitions = 5)
    assert(partitions.length >= 4 && partitions.distinct == Seq(6))
  }

  test("beside a filter") {
    val filtered = "SELECT t.id, q.q FROM trades t JOIN (SELECT * FROM quotes WHERE j = 3) q ON t.k = q.k"
    val small = "spark.joinery.runtimeFilter.applicationSideMinSize" -> "0"
    withTables("facts") {
      sql("CREATE TABLE facts USING parquet AS SELECT * FROM trades")
      sql("CREATE TABLE few USING parquet AS SELECT * FROM quotes")
      try {
        val tables = filtered.replace("trades", "facts").replace("quotes", "few")
        assert(shuffles(tables, most = 5, partitions = 5, small) == Seq(6, 6))
        val off = "spark.joinery.runtimeFilter.build.enabled" -> "false"
        assert(shuffles(tables, most = 5, partitions = 5, small, off) == Seq(5, 5))
      } finally sql("DROP TABLE few")
    }
  }

  test("buckets keep their number, and so does what they meet") {
    withTables("bucketed") {
      sql("CREATE TABLE bucketed USING parquet CLUSTERED BY (k) INTO 5 BUCKETS AS SELECT * FROM quotes")
      assert(shuffles(LastJoin.replace("quotes", "bucketed"), most = 5, partitions = 5) == Seq(5))
    }
  }

  test("not where there are far fewer partitions, or more, or no operator of Joinery") {
    assert(shuffles(LastJoin, most = 200, partitions = 5) == Seq(5, 5))
    assert(shuffles(LastJoin, most = 4, partitions = 5) == Seq(5, 5))
    assert(shuffles("SELECT t.id, q.q FROM trades t JOIN quotes q USING (k, at)", most = 5, partitions = 5) == Seq(
      5,
      5))
  }

  test("not where many rows are shuffled") {
    val many = s"(SELECT id, id % 300 AS k, id % 1000 AS at FROM range(6000000) WHERE $OneOfTwenty) t"
    val sum = LastJoin.replace("trades t", many).replace("SELECT t.id, q.q", "SELECT sum(t.id * coalesce(q.q, 1))")
    assert(shuffles(sum, most = 5, partitions = 5) == Seq(1, 5, 5))
    assert(shuffles(sum.replace("6000000", "300000"), most = 5, partitions = 5) == Seq(1, 6, 6))
  }

  test("not behind a filter, if what it meets has many rows") {
    withTables("facts", "few") {
      sql("CREATE TABLE facts USING parquet AS SELECT * FROM trades")
      sql("CREATE TABLE few USING parquet AS SELECT * FROM quotes")
      val query =
        s"""SELECT sum(t.id), count(x.id)
          FROM (SELECT id, id % 300 AS k, id % 9 AS j, id % 7 AS at FROM range(6000000) WHERE $OneOfTwenty) t
          LEFT JOIN (SELECT f.id, f.k FROM facts f JOIN few q ON f.k = q.k WHERE q.j = 3) x ON t.k = x.k AND t.j > t.at"""
      val small = "spark.joinery.runtimeFilter.applicationSideMinSize" -> "0"
      assert(shuffles(query, most = 5, partitions = 5, small).sorted == Seq(1, 5, 5, 5))
    }
  }

  test("not the partitions that a user asks for") {
    val repartitioned = LastJoin.replace("trades t", "(SELECT /*+ REPARTITION(5, k) */ * FROM trades) t")
    assert(shuffles(repartitioned, most = 5, partitions = 5) == Seq(5, 5))
  }
}
