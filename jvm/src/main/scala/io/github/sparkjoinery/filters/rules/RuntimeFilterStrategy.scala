package io.github.sparkjoinery.filters.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, ReturnAnswer}
import org.apache.spark.sql.catalyst.trees.TreePattern.SCALAR_SUBQUERY
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

import io.github.sparkjoinery.expressions.MightContain

/**
 * Leaves out a bloom filter of Spark's where a stored one of ours tests the same keys. Spark's `InjectRuntimeFilter`
 * runs after our rules and does not see it. An extension has no place between that rule and the planner.
 */
object RuntimeFilterStrategy extends SparkStrategy with PredicateHelper {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    // once for all that is planned together
    case whole: ReturnAnswer =>
      val single = whole.transformWithPruning(_.containsPattern(SCALAR_SUBQUERY)) {
        case Filter(condition, child) if condition.exists(_.isInstanceOf[BloomFilterMightContain]) =>
          val predicates = splitConjunctivePredicates(condition)
          Filter(predicates.filterNot(isSecond(_, predicates)).reduce(And), child)
      }
      if (single.fastEquals(whole)) Nil else Seq(planLater(single))
    case _ => Nil
  }

  private def isSecond(predicate: Expression, all: Seq[Expression]): Boolean = predicate match {
    case BloomFilterMightContain(_, key) => all.exists {
        case MightContain(hash, _, _) => key.references.subsetOf(hash.references)
        case _ => false
      }
    case _ => false
  }
}
