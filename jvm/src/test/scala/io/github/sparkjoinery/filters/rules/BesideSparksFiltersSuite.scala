package io.github.sparkjoinery.filters.rules

import org.apache.spark.sql.execution.FilterExec

/** Filters that a query builds, next to the filters of Spark's own rule. */
class BesideSparksFiltersSuite extends BuiltFilters {

  private val Forced = Seq(
    "spark.sql.optimizer.runtime.bloomFilter.applicationSideScanSizeThreshold" -> "0",
    "spark.sql.optimizer.runtime.bloomFilter.creationSideThreshold" -> "1GB",
    "spark.sql.optimizer.runtime.bloomFilter.enabled" -> "true"
  )

  /** The number of Spark's filters in the plan that ran. */
  private def theirs(query: String, settings: (String, String)*): Int = withConf(Shuffled ++ Forced ++ settings: _*) {
    val answer = sql(query)
    answer.collect()
    collect(plan(answer)) { case filter: FilterExec =>
      " might_contain\\(".r.findAllIn(filter.condition.toString).size
    }.sum
  }

  test("Spark's own filter of the same keys is left out") {
    val query = "SELECT f.id, s.name FROM fact f JOIN small s ON f.k = s.k WHERE s.class = 3"
    assert(theirs(query, Off) == 1)
    assert(theirs(query) == 0)
    checkBuilt(query, 1, Forced: _*)
    val twoKeys = "SELECT f.id FROM fact f JOIN small s ON f.k = s.k AND f.name = s.name WHERE s.class = 3"
    assert(theirs(twoKeys, Off) == 2 && theirs(twoKeys) == 0)
    checkBuilt(twoKeys, 1, Forced: _*)
  }

  test("Spark's filter of the same column, but of another table, stays") {
    // Spark takes a predicate for selective although nearly all rows pass it; Joinery does not.
    val query =
      "SELECT f.id FROM fact f JOIN second t ON f.k = t.k2 JOIN small s ON f.k = s.k WHERE s.class = 3 AND t.w <> 5"
    assert(theirs(query, Off) >= 1)
    val both = withConf(Shuffled ++ Forced: _*)(sql(query).queryExecution.optimizedPlan.toString)
    assert(theirs(query) >= 1, both)
    checkBuilt(query, 1, Forced: _*)
  }
}
