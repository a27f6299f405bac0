package io.github.sparkjoinery.filters.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, ReturnAnswer}
import org.apache.spark.sql.catalyst.trees.TreePattern.SCALAR_SUBQUERY
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.expressions.{KnownFilter, MightContain}
import io.github.sparkjoinery.filters.logical.{FilterCost, FilterableJoin}
import io.github.sparkjoinery.planning.explain.{Decision, RelationName}

/**
 * Removes a bloom filter of Spark's if one of ours tests the same keys of the same tables. Spark's
 * `InjectRuntimeFilter` runs after our rules and does not see it. An extension has no place between that rule and the
 * planner.
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

  /** Records for joins with a large side that no filter is built without adaptive execution. */
  private def decline(plan: LogicalPlan): Unit = {
    val cost = new FilterCost
    plan.foreach {
      case join @ FilterableJoin(filterable) =>
        val isLarge = filterable.sides.exists(side => cost.largestScan(side.rows) >= JoineryConf.runtimeFilterMinSize)
        if ((isLarge || RuntimeFilterHint.isOn(filterable.hint)) && !FilterableJoin.isBroadcast(join))
          Decision.record(join, Decision.BuiltFilter, "no filter is built: adaptive execution is off")
      case _ =>
    }
  }

  private def withoutSparks(condition: Expression): Expression = {
    val predicates = splitConjunctivePredicates(condition)
    val ours = predicates.collect { case test: MightContain => test }
    val kept = predicates.filterNot {
      case BloomFilterMightContain(filter, key) =>
        ours.exists(test => key.references.subsetOf(test.hash.references) && isOfSame(test.filter, filter))
      case _ => false
    }
    if (kept.length == predicates.length) condition else kept.reduce(And)
  }

  /** True if our filter comes from the same tables as Spark's. Any other filter may drop other rows. */
  private def isOfSame(ours: Expression, sparks: Expression): Boolean = (ours, sparks) match {
    case (KnownFilter(_, _, tables), subquery: ScalarSubquery) if tables.nonEmpty =>
      subquery.plan.collectLeaves().forall(leaf => tables.contains(RelationName.nameOf(leaf)))
    case _ => true
  }
}
