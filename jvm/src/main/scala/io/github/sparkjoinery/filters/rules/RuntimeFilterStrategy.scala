package io.github.sparkjoinery.filters.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, ReturnAnswer}
import org.apache.spark.sql.catalyst.trees.TreePattern.SCALAR_SUBQUERY
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.expressions.MightContain
import io.github.sparkjoinery.filters.logical.{FilterCost, FilterableJoin, FilteredJoin}
import io.github.sparkjoinery.planning.explain.Decision

/**
 * Removes a bloom filter of Spark's if a stored one of ours tests the same keys. Spark's `InjectRuntimeFilter` runs
 * after our rules and does not see it. An extension has no place between that rule and the planner.
 */
object RuntimeFilterStrategy extends SparkStrategy with PredicateHelper {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    // once per plan
    case whole: ReturnAnswer =>
      if (JoineryConf.runtimeFilterBuild && !SQLConf.get.adaptiveExecutionEnabled) decline(whole)
      val single = whole.transformWithPruning(_.containsPattern(SCALAR_SUBQUERY)) {
        case Filter(condition, child) if condition.exists(_.isInstanceOf[BloomFilterMightContain]) =>
          Filter(withoutSparks(condition), child)
      }
      if (single.fastEquals(whole)) Nil else Seq(planLater(single))
    case _ => Nil
  }

  /** Says of large sides that no filter is built without adaptive execution. */
  private def decline(plan: LogicalPlan): Unit = {
    val cost = new FilterCost
    plan.foreach {
      case join @ FilterableJoin(filterable) =>
        val isLarge = filterable.sides.exists(side => cost.largestScan(side.rows) >= JoineryConf.runtimeFilterMinSize)
        if ((isLarge || RuntimeFilterHint.isOn(filterable.hint)) && !FilteredJoin.isBroadcast(join))
          Decision.record(join, Decision.BuiltFilter, "no filter is built: adaptive execution is off")
      case _ =>
    }
  }

  /** A condition without those bloom filters of Spark's that test keys which one of ours tests, too. */
  def withoutSparks(condition: Expression): Expression = {
    val predicates = splitConjunctivePredicates(condition)
    val hashes = predicates.collect { case test: MightContain => test.hash }
    val kept = predicates.filterNot {
      case BloomFilterMightContain(_, key) => hashes.exists(hash => key.references.subsetOf(hash.references))
      case _ => false
    }
    if (kept.length == predicates.length) condition else kept.reduce(And)
  }
}
