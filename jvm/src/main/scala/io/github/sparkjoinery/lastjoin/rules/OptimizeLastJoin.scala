package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule

import io.github.sparkjoinery.lastjoin.logical.{LastJoin, LastJoinTerms, LastRowPerKey}

/**
 * Moves filters down where that cannot change the last row:
 *   - a predicate of a filter above that is over left columns moves below the left side
 *   - a conjunct of ON that is over right columns moves below the right side
 *
 * A filter above over right columns stays: it filters the chosen rows, not the rows to choose from.
 *
 * If ON has only equalities, the rule reduces the right side to the last row of each key. It drops a LAST JOIN whose
 * right columns are not used, because the join neither adds nor removes rows. It also replaces a join with an empty
 * side ([[RemoveEmptySides]]).
 */
object OptimizeLastJoin extends Rule[LogicalPlan] with PredicateHelper {
  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformDownWithPruning(_.containsPattern(LastJoin.Pattern)) {
      case Filter(condition, join: LastJoin) if leftOnly(condition, join).nonEmpty =>
        val pushed = leftOnly(condition, join)
        val kept = splitConjunctivePredicates(condition).filterNot(pushed.contains)
        val pushedJoin = join.copy(left = Filter(pushed.reduce(And), join.left))
        pushedJoin.copyTagsFrom(join) // the rule's result gets the tags of the filter
        kept.reduceOption(And).map(Filter(_, pushedJoin)).getOrElse(pushedJoin)

      case RemoveEmptySides(rest) => rest

      case join: LastJoin if rightOnly(join).nonEmpty =>
        val pushed = rightOnly(join)
        val kept = conjuncts(join).filterNot(pushed.contains)
        join.copy(right = Filter(pushed.reduce(And), join.right), condition = kept.reduceOption(And))

      case join: LastJoin if !isReduced(join.right) && LastJoinTerms.split(join).lastOfKey =>
        join.copy(right = LastRowPerKey(LastJoinTerms.split(join).rightKeys, join.order, join.right))

      case Project(list, join: LastJoin)
          if list.forall(_.references.subsetOf(join.left.outputSet)) && !isObserved(join.right) =>
        Project(list, join.left)
    }

  /** True if the query collects metrics of these rows, so that they have to be read. */
  private def isObserved(right: LogicalPlan): Boolean = right.exists(_.isInstanceOf[CollectMetrics])

  private def isReduced(right: LogicalPlan): Boolean = right match {
    case _: LastRowPerKey | _: LocalRelation => true
    case Project(_, child) => isReduced(child)
    case _ => false
  }

  private def leftOnly(condition: Expression, join: LastJoin): Seq[Expression] =
    splitConjunctivePredicates(condition).filter { predicate =>
      predicate.deterministic && predicate.references.nonEmpty && canEvaluate(predicate, join.left)
    }

  private def rightOnly(join: LastJoin): Seq[Expression] =
    conjuncts(join).filter(predicate => predicate.references.nonEmpty && canEvaluate(predicate, join.right))

  private def conjuncts(join: LastJoin): Seq[Expression] =
    join.condition.toSeq.flatMap(splitConjunctivePredicates)
}
