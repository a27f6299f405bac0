package io.github.sparkjoinery.execution

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.internal.SQLConf

import io.github.sparkjoinery.{Answers, JoinerySession}

/** The number of partitions of shuffles. */
class ShuffleWidthSuite extends JoinerySession with AdaptiveSparkPlanHelper {
  private val Width = "spark.joinery.shuffleWidth"
  private val Partitions = SQLConf.SHUFFLE_PARTITIONS.key

  // Four partitions for each core of the tests' local[2].
  private val Narrow = 8

  override protected def beforeAll(): Unit = views(
    "trades" -> "SELECT id, id % 300 AS k, id % 1000 AS at, id % 7 AS j FROM range(5000)",
    "quotes" -> "SELECT id AS q, id % 500 AS k, id % 900 AS at, id % 7 AS j FROM range(3000)"
  )

  private val LastJoin =
    "SELECT t.id, q.q FROM trades t LAST JOIN quotes q ORDER BY q.at, q.q ON t.k = q.k AND q.at <= t.at"
  private val Stock = "SELECT t.id, q.q FROM trades t JOIN quotes q USING (k, at)"

  /** The partitions of each shuffle of a query, whose answer does not depend on them. */
  private def widths(query: String, settings: (String, String)*): Seq[Int] =
    withConf("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
      val expected = withConf(Partitions -> "3")(Answers.rows(sql(query)))
      unset(Partitions) {
        withConf(settings: _*) {
          val answer = sql(query)
          assert(Answers.rows(answer) == expected)
          exchanges(answer).map(_.outputPartitioning.numPartitions)
        }
      }
    }

  private def unset[T](key: String)(body: => T): T = {
    val before = spark.conf.getOption(key)
    spark.conf.unset(key)
    try body
    finally before.foreach(spark.conf.set(key, _))
  }

  private def exchanges(answer: DataFrame): Seq[ShuffleExchangeExec] = collect(
    answer.asInstanceOf[org.apache.spark.sql.joinery.DataFrame].queryExecution.executedPlan) {
    case exchange: ShuffleExchangeExec => exchange
  }

  test("follows the bytes of plans with an operator of Joinery") {
    assert(widths(LastJoin) == Seq(Narrow, Narrow))
    assert(widths(LastJoin, Width -> "off") == Seq(200, 200))
    assert(widths(Stock) == Seq(200, 200))
    assert(widths(Stock, Width -> "ALL") == Seq(Narrow, Narrow))
  }

  test("is the width that a user sets") {
    for (number <- Seq("200", "5"))
      assert(widths(LastJoin, Partitions -> number) == Seq.fill(2)(number.toInt))
    val initial = SQLConf.COALESCE_PARTITIONS_INITIAL_PARTITION_NUM.key
    assert(widths(LastJoin, initial -> "200") == Seq(200, 200))
    val hinted = LastJoin.replace("trades t", "(SELECT /*+ REPARTITION(7, k) */ * FROM trades) t")
    assert(widths(hinted).forall(Set(7, 200)))
  }

  test("is the same in the whole plan, so that its joins still meet") {
    val counts = "SELECT k, count(*) AS n FROM quotes GROUP BY k ORDER BY n, k LIMIT 100"
    val chain = s"SELECT a.id, a.q, b.n FROM ($LastJoin) a JOIN ($counts) b ON a.id = b.k ORDER BY a.id"
    val partitions = widths(chain).filter(_ != 1)
    assert(partitions.length >= 5 && partitions.distinct == Seq(Narrow), chain)
  }

  test("divides the default, and is large enough for the bytes") {
    def over(rows: Long) = widths(
      LastJoin.replace(
        "trades t",
        s"(SELECT id, id % 300 AS k, id % 1000 AS at FROM range($rows) WHERE id % 50000 = 0) t"))
    assert(over(20000000L) == Seq(10, 10)) // 153 MB by Spark's estimate
    assert(over(50000000L) == Seq(25, 25)) // 381 MB
    assert(over(1000000000L) == Seq(200, 200))
  }

  test("keeps the default where rows multiply below a shuffle") {
    val exploded = "(SELECT id, k, at FROM trades LATERAL VIEW explode(sequence(1, 3)) x AS n) t"
    assert(widths(LastJoin.replace("trades t", exploded)) == Seq(200, 200))
    val crossed = "(SELECT t.id, t.k, t.at FROM trades t JOIN (SELECT * FROM quotes LIMIT 2) x ON t.id != x.q) t"
    assert(widths(LastJoin.replace("trades t", crossed)).filter(_ != 1).distinct == Seq(200))
  }

  test("keeps the number of buckets, and of what they meet") {
    withTables("bucketed") {
      sql("CREATE TABLE bucketed USING parquet CLUSTERED BY (k) INTO 200 BUCKETS AS SELECT * FROM quotes")
      assert(widths(LastJoin.replace("quotes", "bucketed")) == Seq(200))
    }
  }

  test("follows the bytes behind a filter, too, and stays when adaptive execution plans again") {
    withTables("facts", "few") {
      sql("CREATE TABLE facts USING parquet AS SELECT * FROM trades")
      sql("CREATE TABLE few USING parquet AS SELECT * FROM quotes")
      val small = "spark.joinery.runtimeFilter.applicationSideMinSize" -> "0"
      val filtered = "SELECT t.id, q.q FROM facts t JOIN (SELECT * FROM few WHERE j = 3) q ON t.k = q.k"
      assert(widths(filtered, small) == Seq(Narrow, Narrow))
      assert(widths(filtered, small, "spark.joinery.runtimeFilter.build.enabled" -> "false") == Seq(200, 200))
      val grouped = s"SELECT id, count(*) FROM ($filtered) GROUP BY id"
      assert(widths(grouped, small) == Seq(Narrow, Narrow, Narrow))
    }
  }
}
