package io.github.sparkjoinery.execution

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.optimizer.JoinSelectionHelper
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.adaptive.{BroadcastQueryStageExec, LogicalQueryStage}

import io.github.sparkjoinery.explain.Decision
import io.github.sparkjoinery.logical.{LastJoin, LastJoinRight}
import io.github.sparkjoinery.rules.LastJoinException

/**
 * Chooses the physical form of a LAST JOIN, once more on every re-plan of adaptive execution:
 *  1. a hint for the right side: BROADCAST, or MERGE;
 *  1. `BroadcastLastJoin` when the right side has been broadcast already or is small enough to be;
 *  1. `SortMergeLastJoin`.
 */
object LastJoinStrategy extends SparkStrategy with JoinSelectionHelper with SQLConfHelper with Logging {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case join: LastJoin =>
      val terms = LastJoinTerms.of(join)
      val (broadcast, why) = chooseBroadcast(join)
      Decision.record(join, why)
      val (left, right) = (planLater(join.left), planLater(join.right))
      Seq(if (broadcast) BroadcastLastJoinExec(left, right, terms) else SortMergeLastJoinExec(left, right, terms))

    case right: LastJoinRight => // CheckLastJoin cannot know whether a join is still to come
      LastJoinException.fail("MISPLACED_ORDER",
        "The right side of a LAST JOIN is used without the join: left.join(right, on, 'left') is missing.", right.origin)

    case _ => Nil
  }

  private def chooseBroadcast(join: LastJoin): (Boolean, String) = {
    val hint = join.hint.rightHint.flatMap(_.strategy)
    hint match {
      case _ if isBroadcast(join.right) => (true, "the right side is broadcast already")
      case Some(BROADCAST) if join.right.stats.sizeInBytes >= conf.maxBroadcastTableSizeInBytes =>
        (false, s"hint BROADCAST: the right side is beyond spark.sql.maxBroadcastTableSize (${size(join)})")
      case Some(BROADCAST) => (true, "hint")
      case Some(SHUFFLE_MERGE) => (false, "hint")
      case Some(other @ (SHUFFLE_HASH | SHUFFLE_REPLICATE_NL)) =>
        (false, s"hint ${other.displayName}: LAST JOIN has no such form yet")
      case Some(NO_BROADCAST_HASH | NO_BROADCAST_AND_REPLICATION) => (false, "hint against broadcast")
      case _ if canBroadcastBySize(join.right, conf) => (true, s"the right side is small (${size(join)})")
      case _ => (false, s"the right side is too large to broadcast (${size(join)}, limit ${conf.autoBroadcastJoinThreshold} bytes)")
    }
  }

  private def size(join: LastJoin): String = s"${join.right.stats.sizeInBytes} bytes"

  // Once broadcast, a stage's size is what it takes in memory. Judging that anew would flip the choice back.
  private def isBroadcast(plan: LogicalPlan): Boolean = plan match {
    case stage: LogicalQueryStage => stage.physicalPlan.exists(_.isInstanceOf[BroadcastQueryStageExec])
    case _ => false
  }
}
