package io.github.sparkjoinery.window

import scala.util.Random

import io.github.sparkjoinery.Pairwise
import io.github.sparkjoinery.Pairwise.Case
import io.github.sparkjoinery.window.WindowDimensions._

/**
 * Every function of every type over every frame of every order, hours in all; only with `JOINERY_SOAK=true`, which
 * `make soak` sets. The other dimensions are drawn for each query. `JOINERY_SEED` repeats a run,
 * `JOINERY_PRODUCT_SHARE` (0 to 1) is how much of the product to take.
 */
class SlidingWindowProductSuite extends WindowChecks {

  private val seed = sys.env.get("JOINERY_SEED").map(_.toLong).getOrElse(Random.nextInt().toLong.abs)
  private val share = sys.env.get("JOINERY_PRODUCT_SHARE").map(_.toDouble).getOrElse(1.0)

  if (Pairwise.isSoak)
    for (order <- OrderTypes.map(_.name)) test(s"windows ordered by $order") {
      val random = new Random(s"$seed $order".hashCode)
      load(random.nextLong())
      val queries = for {
        terms <- Terms.iterator
        columns <- random.shuffle(product(Map("order" -> order, "terms" -> terms)).filter(_ =>
          random.nextDouble() < share)).grouped(20)
      } yield {
        val common = Common.map { case (name, values) =>
          name -> columns.head.getOrElse(name, values(random.nextInt(values.length)))
        }.toMap
        WindowQuery(common, columns.map(common ++ _))
      }
      info(s"${check(queries)} queries, JOINERY_SEED=$seed")
    }

  private def product(common: Case): Seq[Case] = Own.foldLeft(Seq(common)) { case (cases, (name, values)) =>
    for (values <- cases.flatMap(some => values.map(value => some + (name -> value))) if allowed(values)) yield values
  }
}
