package io.github.sparkjoinery.lastjoin.rules

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{PushDownPredicates, UnwrapCastInBinaryComparison}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule

import io.github.sparkjoinery.lastjoin.logical.{LastJoin, LastRowPerKey}
import io.github.sparkjoinery.planning.terms.MayFail

/**
 * Infers filters of the right side from ON and the left side's filters, as Spark does for a LEFT JOIN. Example: with
 * `WHERE l.day = '2013-01-01'` and `ON l.day = r.day`, right rows of other days or without a day cannot match. Filters
 * of the left side are inferred, too, if a filter above drops left rows without a match, as in an inner ASOF JOIN.
 *
 * The rule runs once, after Spark has pushed down all filters: inferring filters from inferred filters might not end.
 * It pushes its own filters down with Spark's rules.
 */
object InferFiltersOfLastJoin extends Rule[LogicalPlan] with PredicateHelper with ConstraintHelper {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!conf.constraintPropagationEnabled) plan
    else
      plan.transformDownWithPruning(_.containsPattern(LastJoin.Pattern)) {
        case filter @ Filter(condition, join: LastJoin) if dropsLeftRowsWithoutMatch(condition, join) =>
          filter.copy(child = join.withNewChildren(Seq(filtered(join.left, join), join.right)))
        // A self-join shuffles its table once, as long as both sides are the same.
        case join: LastJoin if !join.left.sameResult(join.right) => join.copy(right = filtered(join.right, join))
      }

  private def filtered(side: LogicalPlan, join: LastJoin): LogicalPlan = {
    val known = join.left.constraints ++ join.right.constraints ++
      join.condition.toSeq.flatMap(splitConjunctivePredicates)
    val all = known ++ inferAdditionalConstraints(known)
    val inferred = (all ++ constructIsNotNullConstraints(all, side.output) -- side.constraints).filter(predicate =>
      predicate.deterministic && !MayFail(predicate) && predicate.references.nonEmpty && canEvaluate(predicate, side))
    inferred.reduceOption(And).fold(side)(below(_, side))
  }

  /**
   * Adds a filter to a side. A filter may go below [[LastRowPerKey]]: ON of such a join has only equalities of keys, so
   * all that is inferred from it is about keys.
   */
  private def below(filter: Expression, side: LogicalPlan): LogicalPlan = side match {
    case last: LastRowPerKey => last.copy(child = below(filter, last.child))
    case Project(list, last: LastRowPerKey) if filter.references.subsetOf(last.outputSet) =>
      Project(list, below(filter, last))
    case _ => UnwrapCastInBinaryComparison(PushDownPredicates(Filter(filter, side)))
  }

  private def dropsLeftRowsWithoutMatch(condition: Expression, join: LastJoin): Boolean =
    splitConjunctivePredicates(condition).filter(canEvaluate(_, join.right)).exists { predicate =>
      val ofNulls = predicate.transform { case column: Attribute => Literal.create(null, column.dataType) }
      ofNulls.foldable && Try(ofNulls.eval()).toOption.exists(value => value == null || value == false)
    }
}
