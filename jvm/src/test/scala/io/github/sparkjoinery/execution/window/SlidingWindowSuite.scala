package io.github.sparkjoinery.execution.window

import scala.concurrent.duration._
import scala.util.Random

/**
 * Any window over generated data gives what Spark's own operator gives. Here every two values of the dimensions meet, and then some are
 * drawn from the whole product, for `JOINERY_RANDOM_SECONDS`; `make soak` goes through the product. The seed is printed, and taken from
 * `JOINERY_SEED`.
 */
class SlidingWindowSuite extends WindowChecks {

  private val FixedSeed = 20263L
  private val seed = sys.env.get("JOINERY_SEED").map(_.toLong).getOrElse(Random.nextInt().toLong.abs)
  private def environment(name: String, default: Double): Double = sys.env.get(name).map(_.toDouble).getOrElse(default)

  private def load(seed: Long): Unit = {
    spark.conf.set("spark.sql.planChangeValidation", "false")
    for ((name, rows, step) <- Seq(("few", 60, 61), ("many", 1300, 1301))) {
      sql(WindowData.sql(rows, step, seed)).localCheckpoint().createOrReplaceTempView(name)
    }
    spark.conf.unset("spark.sql.planChangeValidation")
  }

  private def check(queries: Iterator[WindowQuery]): Int = {
    var asked = 0
    val found = queries.flatMap { query => asked += 1; faults(query) }.take(10).toSeq
    assert(found.isEmpty, found.mkString(s"after $asked queries\n", "\n\n", ""))
    asked
  }

  private def pairwise(seed: Long) = new Pairwise(WindowDimensions.Common, WindowDimensions.Own, WindowDimensions.allowed, seed)

  test("every two values together") {
    load(FixedSeed)
    val all = pairwise(FixedSeed).queries(columns = 25).map { case (common, own) => WindowQuery(common, own) }
    info(s"${all.size} queries, ${all.map(_.columns.size).sum} columns")
    check(all.iterator)
  }

  test("random windows for a while") {
    info(s"JOINERY_SEED=$seed")
    load(seed)
    val end = environment("JOINERY_RANDOM_SECONDS", 10).seconds.fromNow
    val generator = pairwise(seed)
    val random = Iterator.continually(generator.draw(columns = 6)).map { case (common, own) => WindowQuery(common, own) }
    info(s"${check(random.take(1) ++ random.takeWhile(_ => end.hasTimeLeft()))} queries")
  }
}
