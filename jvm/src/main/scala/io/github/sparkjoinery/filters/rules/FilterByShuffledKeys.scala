package io.github.sparkjoinery.filters.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.adaptive.{LogicalQueryStage, ShuffleQueryStageExec}
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.filters.logical._
import io.github.sparkjoinery.filters.runtime.ShuffledKeys
import io.github.sparkjoinery.planning.terms.MayFail

/**
 * Drops rows of a side that has waited for the other side's shuffle ([[WaitForKeys]]):
 * {{{
 *   Join f.tailnum = p.tailnum             Join f.tailnum = p.tailnum
 *   :- flights f                           :- Filter joinery_might_contain(f.tailnum, ...) AND f.tailnum >= 'N102UW'
 *   +- LogicalQueryStage planes p    ==>   :  +- flights f
 *                                          +- LogicalQueryStage planes p
 * }}}
 * Filter and bounds are constants. Spark plans the side again as if the user had written them.
 */
object FilterByShuffledKeys extends Rule[LogicalPlan] with PredicateHelper {

  // A key may have so many rows. Reading more costs too much for so few keys.
  private val RowsPerKey = 10

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!JoineryConf.runtimeFilterBuild || !plan.exists(_.isInstanceOf[LogicalQueryStage])) plan
    else plan.transformUp {
      case join @ FilterableJoin(filterable) if join.getTagValue(FilterableJoin.Filtered).isEmpty =>
        filterable.sides.find(side => join.getTagValue(FilterableJoin.Decision).flatten.contains(side.isLeft))
          .flatMap(side => creationOf(filterable, side).map(filtered(join, side, _))).getOrElse(join)
    }

  /** A finished shuffle, and the terms of the join over its rows. */
  private case class Creation(stage: ShuffleQueryStageExec, keys: FilterableKeys) {
    def rows: BigInt = stage.getRuntimeStatistics.rowCount.getOrElse(BigInt(Long.MaxValue))
  }

  /** The finished shuffle with the most keys of the other side, and of these the smallest. */
  private def creationOf(filterable: FilterableJoin, side: ApplicationSide): Option[Creation] = {
    val terms = FilterableKeys.between(filterable.condition, side.rows, side.creation)
    val found = KeySource.findBelow(side.creation, terms.creation)(_.isInstanceOf[LogicalQueryStage]).flatMap {
      case source @ KeySource(LogicalQueryStage(_, physical), found) =>
        ShuffledSide.find(physical, found.map(_._1)).map { shuffled =>
          val keys = shuffled.keys.zip(found).collect { case (Some(key), (_, place)) => (key, place) }
          Creation(shuffled.stage, terms.foundIn(source.copy(keys = keys)))
        }
      case _ => None
    }.filterNot(_.keys.isEmpty)
    found.sortBy(creation => (-creation.keys.keys.length, creation.rows)).headOption
  }

  private def filtered(join: LogicalPlan, side: ApplicationSide, creation: Creation): LogicalPlan = {
    val keys = creation.keys
    val terms = keys.ranges.map(_.creation).foldLeft(Seq.empty[Expression]) { (all, term) =>
      if (all.exists(_.semanticEquals(term))) all else all :+ term
    }
    val found =
      if (creation.rows > JoineryConf.runtimeFilterMaxKeys.toLong * RowsPerKey) None
      else ShuffledKeys.read(creation.stage, keys.creationHash, terms)
    val predicate = found.flatMap(RuntimeFilterPredicate(keys, terms, _, pauses = !MayFail.onPartialKeys(side.rows)))
    val result = predicate.fold(join) { test =>
      val rows = PushRuntimeFilter(Filter(test, side.rows))
      join.withNewChildren(if (side.isLeft) Seq(rows, side.creation) else Seq(side.creation, rows))
    }
    result.copyTagsFrom(join)
    result.setTagValue(FilterableJoin.Filtered, ())
    result
  }
}
