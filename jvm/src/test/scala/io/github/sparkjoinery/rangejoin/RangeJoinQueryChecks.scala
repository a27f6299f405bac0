package io.github.sparkjoinery.rangejoin

import scala.util.Random

import io.github.sparkjoinery.Pairwise.Case

/** Runs any [[RangeJoinQuery]] over generated data, and compares the answer with that of Spark's own joins. */
trait RangeJoinQueryChecks extends RangeJoinChecks {

  /** The seed of random draws, which tests print. `JOINERY_SEED` sets it. */
  protected val seed: Long = sys.env.get("JOINERY_SEED").map(_.toLong).getOrElse(Random.nextInt().toLong.abs)

  protected def load(seed: Long): Unit = for ((view, of) <- Seq("l" -> seed, "r" -> (seed + 1))) {
    sql(s"DROP TABLE IF EXISTS of_$view")
    sql(s"CREATE TABLE of_$view USING parquet AS ${RangeJoinQuery.view(of)}")
    sql(s"SELECT * FROM of_$view").createOrReplaceTempView(view)
  }

  override protected def afterAll(): Unit = {
    super.afterAll()
    Seq("of_l", "of_r").foreach(table => sql(s"DROP TABLE IF EXISTS $table"))
  }

  /** @return the number of rows */
  protected def check(values: Case): Int = {
    val query = RangeJoinQuery(values)
    withConf(query.settings: _*)(checkRangeJoin(query.sql, query.operator))
  }
}
