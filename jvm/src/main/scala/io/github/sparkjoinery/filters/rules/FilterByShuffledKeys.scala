package io.github.sparkjoinery.filters.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.PushDownPredicates
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.adaptive.LogicalQueryStage
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.filters.logical._
import io.github.sparkjoinery.filters.runtime.ShuffledKeys
import io.github.sparkjoinery.planning.{MayFail, PreservesLeft, SomeRowsOfKeys}

/**
 * Drops rows of a side that has waited for the other side's shuffle ([[WaitForKeys]]):
 * {{{
 *   Join f.tailnum = p.tailnum             Join f.tailnum = p.tailnum
 *   :- flights f                           :- Filter joinery_might_contain(f.tailnum, ...) AND f.tailnum >= 'N102UW'
 *   +- LogicalQueryStage planes p    ==>   :  +- flights f
 *                                          +- LogicalQueryStage planes p
 * }}}
 * Filter and bounds are constants, so that Spark plans the side again as if the user had written them.
 */
object FilterByShuffledKeys extends Rule[LogicalPlan] with PredicateHelper {

  // The keys of a stage are read once.
  private val Filtered = TreeNodeTag[Unit]("joinery_filtered_by_shuffled_keys")

  // Rows read, as often as a selective side has rows left.
  private val Selective = 2

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!JoineryConf.runtimeFilterBuild || !plan.exists(_.isInstanceOf[LogicalQueryStage])) plan
    else plan.transformUp {
      case join @ FilterableJoin(filterable) if join.getTagValue(Filtered).isEmpty =>
        filterable.sides.find(side => join.getTagValue(FilterableJoin.Decision).flatten.contains(side.isLeft))
          .fold(join)(filtered(join, filterable, _))
    }

  private def filtered(join: LogicalPlan, filterable: FilterableJoin, side: ApplicationSide): LogicalPlan = {
    val terms = FilterableKeys.between(filterable.condition, side.rows, side.creation)
    val sources = KeySource.of(side.creation, terms.creation)(_.isInstanceOf[LogicalQueryStage]).flatMap { source =>
      source.plan match {
        case LogicalQueryStage(_, physical) =>
          ShuffledSide.of(physical, source.keys.map(_._1)).map { shuffled =>
            val keys = shuffled.keys.zip(source.keys).collect { case (Some(key), (_, place)) => (key, place) }
            (shuffled.stage, terms.foundIn(KeySource(source.plan, keys)))
          }
        case _ => None
      }
    }.filterNot(_._2.isEmpty)
    sources.sortBy { case (stage, keys) =>
      (-keys.keys.length, stage.getRuntimeStatistics.rowCount.getOrElse(BigInt(Long.MaxValue)))
    }.headOption.fold(join) { case (stage, keys) =>
      val ranges = keys.ranges.map(_.creation).foldLeft(Seq.empty[Expression]) { (all, term) =>
        if (all.exists(_.semanticEquals(term))) all else all :+ term
      }
      val isWorthwhile = stage.getRuntimeStatistics.rowCount.exists(_ <= JoineryConf.runtimeFilterMaxKeys)
      val predicate = if (!isWorthwhile) None
      else ShuffledKeys.read(stage, keys.creationHash, ranges)
        .flatMap(RuntimeFilterPredicate(keys, ranges, _, pauses = !MayFail.ofParts(side.rows)))
      val result = predicate.fold(join) { test =>
        val rows = pushed(Filter(test, side.rows))
        join.withNewChildren(if (side.isLeft) Seq(rows, side.creation) else Seq(side.creation, rows))
      }
      result.copyTagsFrom(join)
      result.setTagValue(Filtered, ())
      result
    }
  }

  /** Moves the filter down to where the rows come from. */
  private def pushed(plan: LogicalPlan): LogicalPlan = {
    val next = PushDownPredicates(plan).transformDown {
      case Filter(condition, join: PreservesLeft) if condition.references.subsetOf(join.left.outputSet) =>
        join.withNewChildren(Seq(Filter(condition, join.left), join.right))
      case Filter(condition, some: SomeRowsOfKeys)
          if condition.references.subsetOf(
            AttributeSet(some.keys.collect { case key: Attribute => key })) =>
        some.withNewChildren(Seq(Filter(condition, some.child)))
    }
    if (next.fastEquals(plan)) plan else pushed(next)
  }
}
