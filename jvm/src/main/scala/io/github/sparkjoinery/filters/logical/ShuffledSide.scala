package io.github.sparkjoinery.filters.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.adaptive.{AQEShuffleReadExec, ShuffleQueryStageExec}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SortExec, SparkPlan}

import io.github.sparkjoinery.expressions.HashedKey
import io.github.sparkjoinery.planning.terms.MayFail

/**
 * A side of a join, followed down to the shuffle of its rows. Sorts, projections and filters may lie above the shuffle,
 * and an aggregate by the keys, which keeps all rows of a key or none.
 *
 * @param stage
 *   the shuffle
 * @param rows
 *   the plan that reads the shuffled rows
 * @param keys
 *   the keys in the join's order, over `rows`; None for a key that is computed above
 * @param filtered
 *   builds the side with a filter above `rows`
 * @param mayFailOnPartialKeys
 *   true if the side may throw an error when it has only some rows of a key
 */
case class ShuffledSide(
    stage: ShuffleQueryStageExec,
    rows: SparkPlan,
    keys: Seq[Option[Expression]],
    filtered: Expression => SparkPlan,
    mayFailOnPartialKeys: Boolean = false)

object ShuffledSide extends AliasHelper {

  def find(side: SparkPlan, keys: Seq[Expression]): Option[ShuffledSide] = {
    val mayFail = side.exists(_.isInstanceOf[BaseAggregateExec]) && side.exists(_.expressions.exists(MayFail(_)))
    down(side, keys.map(Some(_))).map(_.copy(mayFailOnPartialKeys = mayFail))
  }

  private def down(plan: SparkPlan, keys: Seq[Option[Expression]]): Option[ShuffledSide] = plan match {
    case stage: ShuffleQueryStageExec => atShuffle(stage, plan, keys)
    case AQEShuffleReadExec(stage: ShuffleQueryStageExec, _) => atShuffle(stage, plan, keys)
    case sort: SortExec => below(sort, sort.child, keys)
    // Nondeterministic operators end the search: their random numbers depend on the number of rows below them.
    case FilterExec(condition, child) if condition.deterministic => below(plan, child, columns(keys, Nil))
    case ProjectExec(list, child) if list.forall(_.deterministic) => below(plan, child, columns(keys, list))
    case aggregate: BaseAggregateExec if aggregate.resultExpressions.forall(_.deterministic) =>
      val groups = AttributeSet(aggregate.groupingExpressions.map(_.toAttribute)).intersect(aggregate.child.outputSet)
      below(
        aggregate,
        aggregate.child,
        columns(keys, aggregate.resultExpressions).map(_.filter(_.references.subsetOf(groups))))
    case _ => None
  }

  private def atShuffle(
      stage: ShuffleQueryStageExec,
      rows: SparkPlan,
      keys: Seq[Option[Expression]]): Option[ShuffledSide] =
    if (stage.isMaterialized && keys.exists(_.isDefined))
      Some(ShuffledSide(stage, rows, keys, test => FilterExec(test, rows)))
    else None

  private def below(plan: SparkPlan, child: SparkPlan, keys: Seq[Option[Expression]]): Option[ShuffledSide] =
    down(child, keys).map(side => side.copy(filtered = test => plan.withNewChildren(Seq(side.filtered(test)))))

  /** The keys that are columns, perhaps widened. They cannot fail for rows that the query would have dropped before. */
  private def columns(keys: Seq[Option[Expression]], list: Seq[NamedExpression]): Seq[Option[Expression]] = {
    val aliases = getAliasMap(list)
    keys.map(_.map(replaceAlias(_, aliases)).filter(HashedKey.column(_).isDefined))
  }
}
