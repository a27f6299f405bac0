package io.github.sparkjoinery.rangejoin

import scala.util.{Random, Try}

import io.github.sparkjoinery.Pairwise
import io.github.sparkjoinery.Pairwise.Case

/**
 * All combinations of join type, kind of condition, data type, strictness of bounds, keys, rest of the condition, and
 * indexed side. These are 68,040 queries and take hours, so they run only with `JOINERY_SOAK=true`, which `make soak`
 * sets. Keys and rest include all ways to meet NULL. The other dimensions, such as the form, would multiply the queries
 * by 800. They are drawn for each query, and the data for each test. `JOINERY_SEED` repeats a run.
 * `JOINERY_PRODUCT_SHARE` (0 to 1) is the share of the product to run.
 */
class RangeJoinProductSuite extends RangeJoinQueryChecks {

  private val share = sys.env.get("JOINERY_PRODUCT_SHARE").map(_.toDouble).getOrElse(1.0)

  private val dimensions = RangeJoinQuery.Dimensions.toMap
  private val InFull = Seq("kind", "strict", "key", "rest", "side")

  if (Pairwise.isSoak)
    for (join <- dimensions("join"); columns <- dimensions("type")) test(s"$join JOIN by $columns") {
      val random = new Random(s"$seed $join $columns".hashCode)
      load(random.nextInt().toLong.abs)
      var asked = 0
      val faults = product(Map("join" -> join, "type" -> columns)).iterator.filter(_ => random.nextDouble() < share)
        .flatMap { values =>
          asked += 1
          val query = drawn(random) ++ values
          Try(check(query)).failed.toOption.map(fault => s"$query\n$fault")
        }.take(10).toSeq
      info(s"$asked queries, JOINERY_SEED=$seed")
      if (faults.nonEmpty) fail(faults.mkString(s"after $asked queries, JOINERY_SEED=$seed\n", "\n\n", ""))
    }

  private def product(common: Case): Seq[Case] = InFull.foldLeft(Seq(common)) { (cases, name) =>
    for (some <- cases; value <- dimensions(name)) yield some + (name -> value)
  }

  /** A value of each dimension. */
  private def drawn(random: Random): Case =
    dimensions.map { case (name, values) => name -> values(random.nextInt(values.length)) }
}
