package io.github.sparkjoinery.window

import scala.concurrent.duration._
import scala.util.Random

import io.github.sparkjoinery.Pairwise

/**
 * Any window over generated data gives what Spark's own operator gives. Here every two values of the dimensions meet,
 * and then some are drawn from the whole product, for `JOINERY_RANDOM_SECONDS`. The seed is printed, and taken from
 * `JOINERY_SEED`.
 */
class SlidingWindowSuite extends WindowChecks {

  private val FixedSeed = 20263L
  private val seed = sys.env.get("JOINERY_SEED").map(_.toLong).getOrElse(Random.nextInt().toLong.abs)
  private val seconds = sys.env.get("JOINERY_RANDOM_SECONDS").map(_.toDouble).getOrElse(3.0)

  private def pairwise(seed: Long) =
    new Pairwise(
      WindowDimensions.Common,
      WindowDimensions.Own,
      WindowDimensions.allowed,
      seed,
      apart = Set(Set("order", "partition"), Set("order", "data")))

  test("every two values together") {
    load(FixedSeed)
    check(pairwise(FixedSeed).queries(columns = 20).iterator.map { case (common, own) => WindowQuery(common, own) })
  }

  test("moments of equal values among NULLs: no deviation, not a small one") {
    val functions = Seq(
      "skewness(x)",
      "kurtosis(x)",
      "stddev(x)",
      "var_pop(x)",
      "covar_samp(x, x)",
      "corr(x, x)",
      "regr_slope(x, x)",
      "regr_r2(x, x)")
    val frames =
      Seq("2 PRECEDING AND UNBOUNDED FOLLOWING", "40 PRECEDING AND CURRENT ROW", "7 FOLLOWING AND 90 FOLLOWING")
    withConf("spark.sql.ansi.enabled" -> "false")(for (value <- Seq("0.1D", "7.7D", "1e10D / 3")) { // or they divide by zero
      val columns = for (function <- functions; frame <- frames)
        yield s"$function OVER (ORDER BY id ROWS BETWEEN $frame) AS c${function.take(7).hashCode.abs}_${frame.hashCode.abs}"
      checkWindow(
        s"SELECT id, ${columns.mkString(", ")} FROM (SELECT id, if(id % 3 = 0, NULL, $value) AS x FROM range(0, 300, 1, 1))",
        stockSettings = Seq(CompiledExpressions)
      )
    })
  }

  test("random windows for a while") {
    info(s"JOINERY_SEED=$seed")
    load(seed)
    val end = seconds.seconds.fromNow
    val generator = pairwise(seed)
    val random = Iterator.continually(generator.draw(columns = 6)).map { case (common, own) =>
      WindowQuery(common, own)
    }
    info(s"${check(random.take(1) ++ random.takeWhile(_ => end.hasTimeLeft()))} queries")
  }
}
