package io.github.sparkjoinery.filters.built

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, ReturnAnswer}
import org.apache.spark.sql.catalyst.trees.TreePattern.SCALAR_SUBQUERY
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

import io.github.sparkjoinery.expressions.{EitherFilter, MightContain, StoredFilter}

/**
 * Plans the build of a filter. Also leaves out a bloom filter of Spark that tests the same keys as one of Joinery.
 * `InjectRuntimeFilter` runs after Joinery's rules and does not know their filters. It would build and probe its filter
 * for nothing. No extension can run between that rule and the planner.
 */
object RuntimeFilterStrategy extends SparkStrategy with PredicateHelper {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case keys: FilterKeys => Seq(FilterKeysExec(keys.planned))
    // Searches once, from the root of the plan. A search below each node would visit each pair of nodes.
    case whole: ReturnAnswer => withoutSecond(whole)
    case _ => Nil
  }

  private def withoutSecond(plan: LogicalPlan): Seq[SparkPlan] = {
    val single = plan.transformWithPruning(_.containsPattern(SCALAR_SUBQUERY)) {
      case Filter(condition, child) if hasSecond(condition) =>
        val predicates = splitConjunctivePredicates(condition)
        Filter(predicates.filterNot(isSecond(_, predicates)).reduce(And), child)
    }
    if (single.fastEquals(plan)) Nil else Seq(planLater(single))
  }

  private def hasSecond(condition: Expression): Boolean = {
    val predicates = splitConjunctivePredicates(condition)
    predicates.exists(isSecond(_, predicates))
  }

  private def isSecond(predicate: Expression, all: Seq[Expression]): Boolean = predicate match {
    case BloomFilterMightContain(theirs, key) => all.exists {
        case MightContain(hash, filter, _) => key.references.subsetOf(hash.references) && isOfSame(filter, theirs)
        case _ => false
      }
    case _ => false
  }

  /** True if Joinery's filter comes from the same tables as Spark's. Any other filter may drop other rows. */
  private def isOfSame(ours: Expression, theirs: Expression): Boolean = ours match {
    case _: StoredFilter | _: EitherFilter => true
    case BuiltFilter(keys: ScalarSubquery, _, _) => relations(theirs).subsetOf(relations(keys))
    case _ => false
  }

  private def tables(plan: LogicalPlan): Seq[LogicalPlan] = plan match {
    case keys: FilterKeys => keys.child.collectLeaves()
    case other => other.collectLeaves()
  }

  private def relations(filter: Expression): Set[LogicalPlan] = filter match {
    case subquery: ScalarSubquery => tables(subquery.plan).map(_.canonicalized).toSet
    case _ => Set.empty
  }
}
