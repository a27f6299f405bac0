package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule

import io.github.sparkjoinery.lastjoin.logical.{LastJoin, LastJoinTerms, LastRowPerKey}

/**
 * Filters move to where they save work, never to where they would change which row is last:
 *   - a filter above, as far as it is over left columns, goes below the join's left side;
 *   - a part of ON that is over right columns goes below the join's right side.
 * A filter above over right columns stays: it decides on the row found, not on the rows to choose from.
 *
 * Where ON is nothing but equalities, the right side is reduced to the last row of each key. And a LAST JOIN of which
 * no right column is used is dropped: it neither adds nor removes rows. So is one with an empty side, where that may
 * spare the query an error.
 */
object OptimizeLastJoin extends Rule[LogicalPlan] with PredicateHelper {
  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformDownWithPruning(_.containsPattern(LastJoin.Pattern)) {
      case Filter(condition, join: LastJoin) if leftOnly(condition, join).nonEmpty =>
        val pushed = leftOnly(condition, join)
        val kept = splitConjunctivePredicates(condition).filterNot(pushed.contains)
        val pushedJoin = join.copy(left = Filter(pushed.reduce(And), join.left))
        pushedJoin.copyTagsFrom(join) // the rule's result gets the filter's
        kept.reduceOption(And).map(Filter(_, pushedJoin)).getOrElse(pushedJoin)

      case RemoveEmptySides(rest) => rest

      case join: LastJoin if rightOnly(join).nonEmpty =>
        val pushed = rightOnly(join)
        val kept = conjuncts(join).filterNot(pushed.contains)
        join.copy(right = Filter(pushed.reduce(And), join.right), condition = kept.reduceOption(And))

      case join: LastJoin if !isReduced(join.right) && LastJoinTerms.of(join).lastOfKey =>
        join.copy(right = LastRowPerKey(LastJoinTerms.of(join).rightKeys, join.order, join.right))

      case Project(list, join: LastJoin)
          if list.forall(_.references.subsetOf(join.left.outputSet)) && !isObserved(join.right) =>
        Project(list, join.left)
    }

  /** Somebody waits for what is counted of its rows. */
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
