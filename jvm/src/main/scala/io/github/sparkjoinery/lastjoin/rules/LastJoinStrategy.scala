package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.optimizer.JoinSelectionHelper
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.adaptive.{BroadcastQueryStageExec, LogicalQueryStage, ShuffleQueryStageExec}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.joinery.{JoineryConf, KryoRegistration}

import io.github.sparkjoinery.lastjoin.exec.{
  AfterRightExec,
  BroadcastLastJoinExec,
  CarryOverExec,
  LastRowPerKeyExec,
  ShuffledHashLastJoinExec,
  SortMergeLastJoinExec
}
import io.github.sparkjoinery.lastjoin.logical.{
  CarryOver,
  LastJoin,
  LastJoinRight,
  LastJoinTerms,
  LastRowPerKey,
  OrderAfterOn
}
import io.github.sparkjoinery.planning.JoineryException
import io.github.sparkjoinery.planning.explain.Decision

/**
 * Chooses the physical form of a LAST JOIN, again on every re-plan of adaptive execution. The first that applies:
 *   1. the form of a hint for the right side: BROADCAST, SHUFFLE_HASH or MERGE
 *   1. `BroadcastLastJoin` if the right side has been broadcast already or is small enough to be
 *   1. `ShuffledHashLastJoin` if a partition of the right side is small enough to be built in memory
 *   1. `SortMergeLastJoin`
 */
object LastJoinStrategy extends SparkStrategy with JoinSelectionHelper with SQLConfHelper with Logging {

  private sealed trait Form
  private case object Broadcast extends Form
  private case object ShuffledHash extends Form
  private case object SortMerge extends Form

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case join: LastJoin =>
      val terms = LastJoinTerms.split(join)
      val (form, why) = choose(join, terms)
      Decision.record(join, Decision.LastJoin, why + OrderAfterOn.noteOn(join))
      val right = planLater(join.right)
      val left =
        if (form != Broadcast && isMeasuredFirst(join, terms)) {
          val after = AfterRightExec(planLater(join.left), planLater(join.right), terms.rightKeys)
          after.setLogicalLink(join.left) // not to the join, or the shuffle would count as its stage
          after
        } else planLater(join.left)
      Seq(form match {
        case Broadcast => new BroadcastLastJoinExec(left, right, terms)
        case ShuffledHash => ShuffledHashLastJoinExec(left, right, terms)
        case SortMerge => SortMergeLastJoinExec(left, right, terms)
      })

    case last: LastRowPerKey =>
      Seq(LastRowPerKeyExec(last.keys, last.order ++ LastJoinTerms.tieBreaker(last.child), planLater(last.child)))

    case carry: CarryOver =>
      Seq(CarryOverExec(
        carry.part,
        carry.time,
        carry.cuts,
        carry.labels,
        carry.order ++ LastJoinTerms.tieBreaker(carry.child),
        planLater(carry.child)))

    case right: LastJoinRight => // CheckLastJoin cannot know if a join follows
      JoineryException.fail(
        "MISPLACED_ORDER",
        "The right side of a LAST JOIN is used without the join: left.join(right, on, 'left') is missing.",
        right.origin)

    case _ => Nil
  }

  private def choose(join: LastJoin, terms: LastJoinTerms): (Form, String) = {
    val tooLarge =
      s"the right side is too large to broadcast (${size(join)}, limit ${conf.autoBroadcastJoinThreshold} bytes)"
    join.hint.rightHint.flatMap(_.strategy) match {
      case _ if isBroadcast(join.right) => (Broadcast, "the right side is broadcast already")
      case hint if KryoRegistration.missing.isDefined && !hint.contains(SHUFFLE_MERGE) =>
        shuffled(join, KryoRegistration.missing.get)
      case Some(BROADCAST) if isMeasuredFirst(join, terms) =>
        shuffled(join, s"hint BROADCAST: the right side is measured first (${size(join)})")
      case Some(BROADCAST) if join.right.stats.sizeInBytes <= JoineryConf.maxBroadcast || isUnknown(join.right) =>
        (Broadcast, "hint")
      case Some(BROADCAST) =>
        shuffled(join, s"hint BROADCAST: the right side is beyond spark.joinery.lastJoin.maxBroadcast (${size(join)})")
      case Some(SHUFFLE_MERGE) => (SortMerge, "hint")
      case Some(SHUFFLE_HASH) => (ShuffledHash, "hint")
      case Some(SHUFFLE_REPLICATE_NL) =>
        shuffled(join, s"hint ${SHUFFLE_REPLICATE_NL.displayName}: LAST JOIN has no such form")
      case Some(NO_BROADCAST_HASH | NO_BROADCAST_AND_REPLICATION) => shuffled(join, "hint against broadcast")
      case _ if canBroadcastBySize(join.right, conf) => (Broadcast, s"the right side is small (${size(join)})")
      case _ if terms.lastOfKey && terms.rightKeys.isEmpty => (Broadcast, "the right side is one row")
      case _ => shuffled(join, tooLarge)
    }
  }

  private def shuffled(join: LastJoin, why: String): (Form, String) = {
    val partition = largestPartition(join.right)
    val limit = JoineryConf.maxHashPartition
    if (partition <= limit) (ShuffledHash, why)
    else (SortMerge, s"$why; a partition of it is too large to hash ($partition bytes, limit $limit bytes)")
  }

  /**
   * True if the right side is shuffled before the left one, because its size is too uncertain to choose a form. Reduced
   * to a row per key it may be far smaller than the estimate. A side with a BROADCAST hint may be too large for the
   * driver. Adaptive execution knows the size after the shuffle.
   */
  private def isMeasuredFirst(join: LastJoin, terms: LastJoinTerms): Boolean = {
    def isShuffled(plan: LogicalPlan) = plan.exists(_.isInstanceOf[LogicalQueryStage])
    val isUncertain = join.hint.rightHint.flatMap(_.strategy) match {
      case Some(BROADCAST) => join.right.stats.sizeInBytes > JoineryConf.maxBroadcast / 8
      case None => terms.lastOfKey && join.right.isInstanceOf[LastRowPerKey] && conf.autoBroadcastJoinThreshold > 0
      case _ => false
    }
    isUncertain && terms.rightKeys.nonEmpty && conf.adaptiveExecutionEnabled && conf.exchangeReuseEnabled &&
    !isShuffled(join.right) && !isShuffled(join.left)
  }

  /** Bytes of the largest partition: measured if the side is shuffled already, else estimated. */
  private def largestPartition(right: LogicalPlan): BigInt = right match {
    case LogicalQueryStage(_, stage: ShuffleQueryStageExec) if stage.isMaterialized && stage.mapStats.isDefined =>
      BigInt(stage.mapStats.get.bytesByPartitionId.foldLeft(0L)(_ max _))
    case _ => right.stats.sizeInBytes / conf.numShufflePartitions
  }

  /**
   * True if the plan reads something of unknown size, such as a partitioned table without statistics. Operators above
   * scale that size with their columns.
   */
  private def isUnknown(plan: LogicalPlan): Boolean =
    plan.collectLeaves().exists(_.stats.sizeInBytes >= conf.defaultSizeInBytes)

  private def size(join: LastJoin): String = s"${join.right.stats.sizeInBytes} bytes"

  // The size of a broadcast stage is its size in memory. A new decision by that size could undo the broadcast.
  private def isBroadcast(plan: LogicalPlan): Boolean = plan match {
    case stage: LogicalQueryStage => stage.physicalPlan.exists(_.isInstanceOf[BroadcastQueryStageExec])
    case _ => false
  }
}
