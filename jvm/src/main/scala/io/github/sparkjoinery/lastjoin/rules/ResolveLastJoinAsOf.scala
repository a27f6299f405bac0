package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.types.BooleanType

import io.github.sparkjoinery.lastjoin.logical.{
  LastJoin,
  LastJoinAsOf,
  LastJoinAsOfCondition,
  LastJoinLeft,
  MarkedLeft,
  MarkedRight
}
import io.github.sparkjoinery.planning.JoineryException

/**
 * Resolves the DataFrame form of a point-in-time LAST JOIN. It first sets the mark, and adds the condition when both
 * sides are known:
 * {{{
 *   Filter joinery_last_join_as_of(time, tolerance)        LastJoinLeft time, tolerance
 *   +- left                                         ==>    +- left
 *
 *   Join LeftOuter, condition                              Join LeftOuter, condition AND r <= time AND r >= time - tolerance
 *   :- LastJoinLeft time, tolerance                 ==>    :- LastJoinLeft time, tolerance
 *   +- LastJoinRight [r ASC, ...]                          +- LastJoinRight [r ASC, ...]
 * }}}
 * The mark stays on the left side, because `DataFrame.join` by names takes the sides of an analyzed join and builds a
 * new join. [[ProjectHiddenColumnsAboveJoin]] adds a condition over columns that a side does not show.
 */
object ResolveLastJoinAsOf extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(_.containsPattern(LastJoin.Pattern)) {
      case filter @ Filter(marker: LastJoinAsOf, child) if marker.resolved =>
        // checked here, because the analyzer pulls non-deterministic expressions out into a projection before its
        // checks
        marker.children.find(!_.deterministic).foreach { e =>
          JoineryException.fail(
            "NONDETERMINISTIC_ON",
            s"as_of of LAST JOIN must be deterministic, but it is ${e.sql}.",
            e.origin)
        }
        val left = LastJoinLeft(marker.time, marker.tolerance, child)
        left.copyTagsFrom(filter)
        left

      case join @ Join(MarkedLeft(left), MarkedRight(right), LeftOuter, condition, _)
          if join.childrenResolved && join.left.outputSet.intersect(join.right.outputSet).isEmpty &&
            // Spark reports any other ON; a conjunction would cast a string
            condition.forall(on => on.resolved && on.dataType == BooleanType) &&
            !condition.exists(_.exists(_.isInstanceOf[LastJoinAsOfCondition])) =>
        val asOf = PointInTime.comparison(left, right)
        if (!asOf.references.subsetOf(join.left.outputSet ++ join.right.outputSet)) join
        else join.copy(condition = Some(ProjectHiddenColumnsAboveJoin.and(condition, LastJoinAsOfCondition(asOf))))
    }
}
