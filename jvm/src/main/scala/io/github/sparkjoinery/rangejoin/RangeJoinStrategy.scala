package io.github.sparkjoinery.rangejoin

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide, JoinSelectionHelper}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.physical.BroadcastPartitioning
import org.apache.spark.sql.execution.adaptive.{BroadcastQueryStageExec, LogicalQueryStage}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.planning.Decision

/**
 * Takes joins whose condition compares a term of one side with a term of the other, once more on every re-plan of
 * adaptive execution. The smaller side is indexed. Spark keeps:
 *   1. what a hint of its own asks for;
 *   1. joins with an equality whose sides are both too large to broadcast, or whose range is open at one end: few rows
 *      have one key there, or most of them are matches;
 *   1. joins without an equality whose sides are both beyond what the driver can index.
 */
object RangeJoinStrategy extends SparkStrategy with JoinSelectionHelper with SQLConfHelper with Logging {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case join: Join if JoineryConf.rangeJoinEnabled && RangeJoinType.supports(join.joinType) && !join.isStreaming =>
      val conditions = new RangeConditions(join)
      if (conditions.comparisons.isEmpty) notARange(join)
      else choose(join, conditions) match {
        case Right((side, why)) =>
          Decision.record(join, Decision.RangeJoin, why)
          val terms = conditions.terms(side).get
          Seq(new BroadcastRangeJoinExec(planLater(join.left), planLater(join.right), side, join.joinType, terms))
        case Left(why) => declined(join, why)
      }
    case _ => Nil
  }

  private def notARange(join: Join): Seq[SparkPlan] =
    if (RangeJoinHint.isOn(join.hint))
      declined(join, s"hint ${RangeJoinHint.Name}: the condition compares no term of one side with one of the other")
    else Nil

  private def declined(join: Join, why: String): Seq[SparkPlan] = {
    Decision.record(join, Decision.RangeJoin, why)
    Nil
  }

  private def choose(join: Join, conditions: RangeConditions): Either[String, (BuildSide, String)] = {
    val hints = Seq(BuildLeft -> join.hint.leftHint, BuildRight -> join.hint.rightHint)
    val hinted = hints.collectFirst { case (side, Some(hint)) if hint.strategy.contains(BROADCAST) => side }
    val insists = RangeJoinHint.isOn(join.hint)
    val broadcastAlready =
      Seq(BuildLeft, BuildRight).find(side => isBroadcast(sideOf(join, side)))
    val otherHints = hints.flatMap(_._2).flatMap(_.strategy).filterNot(_ == BROADCAST)
    val side = broadcastAlready.orElse(hinted).getOrElse(cheaper(join))
    val bytes = size(join, side)
    if (conditions.usable.isEmpty)
      Left(s"no index for ${conditions.comparisons.head.left.dataType.sql}")
    else if (!join.condition.forall(_.deterministic)) Left("the condition is not deterministic")
    else if (broadcastAlready.isDefined) Right((side, "the indexed side is broadcast already"))
    else if (otherHints.nonEmpty && !insists) Left(s"hint ${otherHints.head.displayName}")
    else if (insists || hinted.isDefined && conditions.leftKeys.isEmpty)
      if (bytes <= limit) Right((side, "hint"))
      else Left(s"hint: the side to be indexed is beyond spark.joinery.rangeJoin.maxBroadcast ($bytes bytes)")
    else if (conditions.leftKeys.nonEmpty) besideKeys(join, conditions, side, hinted.isDefined)
    else if (bytes <= limit) Right((side, s"the indexed side is the smaller one ($bytes bytes)"))
    else Left(s"both sides are too large to index on the driver ($bytes bytes, limit $limit bytes)")
  }

  private def besideKeys(join: Join, conditions: RangeConditions, side: BuildSide, isHinted: Boolean) = {
    val terms = conditions.terms(side).get
    val plan = sideOf(join, side)
    if (terms.bounds.length < 2) Left("the range beside the equality is open at one end: hint RANGE_JOIN insists")
    else if (isHinted || canBroadcastBySize(plan, conf))
      Right((side, s"a range beside an equality; the indexed side is small (${size(join, side)} bytes)"))
    else Left(s"a range beside an equality, and both sides are too large to broadcast (${size(join, side)} bytes, " +
      s"limit ${conf.autoBroadcastJoinThreshold} bytes): hint RANGE_JOIN insists")
  }

  /** The smaller side; where they are much alike, the one of which no row has to be given out for itself. */
  private def cheaper(join: Join): BuildSide = {
    def cost(side: BuildSide): BigInt =
      size(join, side) * (if (RangeJoinType.givesOutIndexed(join.joinType, side)) 3 else 1)
    if (cost(BuildLeft) < cost(BuildRight)) BuildLeft else BuildRight
  }

  private def sideOf(join: Join, side: BuildSide): LogicalPlan = if (side == BuildLeft) join.left else join.right

  private def size(join: Join, side: BuildSide): BigInt = sideOf(join, side).stats.sizeInBytes

  /** Of an estimate, which is of bytes in files more often than not. */
  private def limit: Long = JoineryConf.rangeJoinMaxBroadcast / 4

  // Once broadcast, a stage's size is what it takes in memory. Judging that anew would flip the choice back.
  private def isBroadcast(plan: LogicalPlan): Boolean = plan match {
    case stage: LogicalQueryStage => stage.physicalPlan.exists {
        case broadcast: BroadcastQueryStageExec =>
          broadcast.broadcast.outputPartitioning match {
            case BroadcastPartitioning(_: RangeIndexBroadcastMode) => true
            case _ => false
          }
        case _ => false
      }
    case _ => false
  }
}
