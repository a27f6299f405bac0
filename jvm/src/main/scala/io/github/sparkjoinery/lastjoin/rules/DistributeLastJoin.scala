package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.JoinSelectionHelper
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.joinery.ReplacedRows
import org.apache.spark.sql.types.IntegerType

import io.github.sparkjoinery.expressions.TimePart
import io.github.sparkjoinery.lastjoin.logical.{CarryOver, LastJoin, LastJoinTerms}
import io.github.sparkjoinery.planning.explain.Decision
import io.github.sparkjoinery.planning.plans.PartsByQuantiles

/**
 * Cuts time into parts and makes the part a join key. An as-of join without keys thus stays distributed, although its
 * right side is too large to broadcast.
 * {{{
 *   LastJoin r.t <= l.t            Project
 *   :- left                        +- LastJoin r.part = l.part AND r.t <= l.t
 *   +- right              ==>         :- Project left.*, timepart(l.t, cuts) AS part
 *                                     +- CarryOver part                  -- adds the last row before each part
 *                                        +- right
 * }}}
 * The cuts are quantiles of the right side, from a scalar subquery. They decide how evenly the work is spread, but
 * never change the result.
 */
object DistributeLastJoin extends Rule[LogicalPlan] with JoinSelectionHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformUpWithPruning(_.containsPattern(LastJoin.Pattern)) {
      case join: LastJoin if isCandidate(join) =>
        val terms = LastJoinTerms.split(join)
        (terms.leftLongTime, terms.rightLongTime) match {
          case (Some(leftTime), Some(rightTime)) if terms.leftKeys.isEmpty && terms.onePass =>
            PartsByQuantiles.missing(join).fold(distribute(join, leftTime, rightTime)) { reason =>
              Decision.record(join, Decision.PartsOfTime, s"time is not cut into parts: $reason")
              join
            }
          case _ => join
        }
    }

  private def isCandidate(join: LastJoin): Boolean = {
    val hint = join.hint.rightHint.flatMap(_.strategy)
    conf.numShufflePartitions > 1 && join.condition.exists(_.references.nonEmpty) && !hint.contains(BROADCAST) &&
    !canBroadcastBySize(join.right, conf) && !ReplacedRows.areIn(join.right)
  }

  private def distribute(join: LastJoin, leftTime: Expression, rightTime: Expression): LogicalPlan = {
    val parts = PartsByQuantiles(conf.numShufflePartitions)
    val (cuts, labels) = (parts.cuts(rightTime, join.right), parts.labels)
    val leftPart = Alias(TimePart(leftTime, cuts, labels), "part")()
    val rightPart = AttributeReference("part", IntegerType, nullable = false)()
    val keyed = join.copy(
      left = Project(join.left.output :+ leftPart, join.left),
      right = CarryOver(rightPart, rightTime, cuts, labels, join.order, join.right),
      condition = Some(And(EqualTo(leftPart.toAttribute, rightPart), join.condition.get))
    )
    Project(join.output.map(column => keyed.output.find(_.exprId == column.exprId).get), keyed)
  }
}
