package io.github.sparkjoinery.rangejoin

import scala.concurrent.duration._

import io.github.sparkjoinery.Pairwise

/**
 * Any range join over generated data gives what Spark's own joins give. Here every two values of the dimensions meet,
 * and then some are drawn from the whole product, for `JOINERY_RANDOM_SECONDS`. The seed is printed, and taken from
 * `JOINERY_SEED`.
 */
class RangeJoinSuite extends RangeJoinQueryChecks {

  private val FixedSeed = 20264L
  private val seconds = sys.env.get("JOINERY_RANDOM_SECONDS").map(_.toDouble).getOrElse(3.0)

  private def pairwise(seed: Long, types: Seq[String] = RangeJoinQuery.Types.map(_._1)) = {
    val dimensions = RangeJoinQuery.Dimensions.filterNot(_._1 == "type") :+ ("type" -> types)
    new Pairwise(dimensions, Nil, _ => true, seed)
  }

  /** Types that are compared or subtracted as another one is: each has a few queries, and in `make soak` all pairs. */
  private val alike = if (Pairwise.isSoak) Nil else Seq("byte", "short", "float", "ntz", "interval", "bytes", "date")

  test("every two values together") {
    load(FixedSeed)
    val types = RangeJoinQuery.Types.map(_._1).diff(alike)
    val few = for (one <- alike; generator = pairwise(FixedSeed, Seq(one)); _ <- 0 until 3)
      yield generator.draw(columns = 1)
    val rows = (pairwise(FixedSeed, types).queries(columns = 1) ++ few).map { case (values, _) => check(values) }
    info(s"${rows.length} queries, ${rows.count(_ > 0)} with rows")
    assert(rows.count(_ > 0) > rows.length / 2, "most queries find something")
  }

  test("random range joins for a while") {
    info(s"JOINERY_SEED=$seed")
    load(seed)
    val end = seconds.seconds.fromNow
    val generator = pairwise(seed)
    val random = Iterator.continually(generator.draw(columns = 1)._1)
    val drawn = random.take(1) ++ random.takeWhile(_ => end.hasTimeLeft())
    info(s"${drawn.map(check).size} queries")
  }
}
