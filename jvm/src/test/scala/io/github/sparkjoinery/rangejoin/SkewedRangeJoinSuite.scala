package io.github.sparkjoinery.rangejoin

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.PartialReducerPartitionSpec
import org.apache.spark.sql.execution.adaptive.AQEShuffleReadExec

import io.github.sparkjoinery.Answers
import io.github.sparkjoinery.execution.skew.SkewedPartitions
import io.github.sparkjoinery.rangejoin.exec.ShuffledRangeJoinExec

/** Under adaptive execution, partitions far larger than the others are read by several tasks. */
class SkewedRangeJoinSuite extends RangeJoinChecks with SkewedPartitions {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    views(
      "facts" -> "SELECT int(id) AS id, if(id % 97 = 0, NULL, int(if(id % 10 < 8, 0, id % 11))) AS k, int(pmod(hash(id), 900)) AS x FROM range(0, 4000, 1, 4)",
      "spans" -> "SELECT int(id) AS sid, if(id % 53 = 0, NULL, int(id % 13)) AS sk, int(pmod(hash(id, 7), 900)) AS lo, int(pmod(hash(id, 7), 900) + id % 20) AS hi FROM range(0, 300, 1, 4)",
      "hot" -> "SELECT int(id) AS sid, int(if(id % 10 < 8, 0, id % 13)) AS sk, int(pmod(hash(id, 7), 900)) AS lo, int(pmod(hash(id, 7), 900) + id % 4) AS hi FROM range(0, 3000, 1, 4)"
    )
  }

  private def query(join: String, left: String, right: String): String =
    s"SELECT * FROM $left $join $right ON k = sk AND x BETWEEN lo AND hi AND (id + sid) % 5 <> 1"

  /** How many tasks read a part of a partition of the left side, and of the right. */
  private def parts(query: DataFrame): Seq[Int] = {
    query.collect()
    val join = collectFirst(plan(query)) { case join: ShuffledRangeJoinExec => join }.get
    Seq(join.left, join.right).map { side =>
      side.collectFirst { case read: AQEShuffleReadExec => read.partitionSpecs }.getOrElse(Nil)
        .collect { case spec: PartialReducerPartitionSpec => spec }.length
    }
  }

  for {
    (join, divided) <- Seq(
      "JOIN" -> Seq(true, true),
      "LEFT JOIN" -> Seq(true, false),
      "RIGHT JOIN" -> Seq(false, true),
      "FULL JOIN" -> Seq(false, false),
      "LEFT SEMI JOIN" -> Seq(true, false),
      "LEFT ANTI JOIN" -> Seq(true, false)
    )
    (left, right) <- Seq("facts" -> "spans", "facts" -> "hot", "spans" -> "facts")
  } test(s"$join of $left and $right") {
    val skewed = Seq(left, right).map(Set("facts", "hot"))
    withConf(SkewedJoins: _*) {
      val text = query(join, left, right)
      assert(checkRangeJoin(text, Shuffled) > 0)
      val actual = parts(sql(text))
      assert(actual.map(_ > 1) == divided.zip(skewed).map { case (may, is) => may && is }, plan(sql(text)))
    }
  }

  for (switch <- Seq("spark.joinery.rangeJoin.skewSplit.enabled", "spark.sql.adaptive.skewJoin.enabled"))
    test(s"switched off by $switch") {
      withConf(SkewedJoins :+ (switch -> "false"): _*)(assert(parts(sql(query("JOIN", "facts", "spans"))) == Seq(0, 0)))
    }

  test("from a smaller size on than Spark's") {
    withConf(SkewedJoins ++ Seq(
      "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes" -> "64MB",
      "spark.joinery.skewSplit.minPartition" -> "2KB"): _*)(
      assert(parts(sql(query("JOIN", "facts", "spans"))).head > 1))
  }

  test("an aggregate above relies on the partitioning: no split, and no shuffle besides") {
    withConf(SkewedJoins: _*) {
      val text = s"SELECT k, count(*) AS n FROM (${query("JOIN", "facts", "spans")}) GROUP BY k"
      assert(Answers.rows(sql(text)) == onStockJoins(Answers.rows(sql(text))))
      assert(parts(sql(text)) == Seq(0, 0))
    }
  }
}
