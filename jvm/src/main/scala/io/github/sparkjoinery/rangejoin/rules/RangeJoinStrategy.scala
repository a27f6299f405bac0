package io.github.sparkjoinery.rangejoin.rules

import scala.annotation.tailrec

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.expressions.ExpressionSet
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide, JoinSelectionHelper}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.physical.{BroadcastMode, BroadcastPartitioning}
import org.apache.spark.sql.catalyst.plans.{FullOuter, LeftOuter, RightOuter}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.trees.TreePattern.LOGICAL_QUERY_STAGE
import org.apache.spark.sql.execution.adaptive.{BroadcastQueryStageExec, LogicalQueryStage}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.joinery.{JoineryConf, KryoRegistration}

import io.github.sparkjoinery.planning.explain.Decision
import io.github.sparkjoinery.planning.plans.Repeatable
import io.github.sparkjoinery.rangejoin.exec.{
  BroadcastRangeJoinExec,
  RangeIndexBroadcastMode,
  ShuffledRangeJoinExec,
  SortForRangeIndexExec
}
import io.github.sparkjoinery.rangejoin.logical.{RangeConditions, RangeJoinType, RangeTerms}
import io.github.sparkjoinery.rangejoin.stored.{StoredRangeSide, StoredRangeSideExec}

/**
 * Plans joins whose condition compares a term of one side with a term of the other. Adaptive execution asks again on
 * every re-plan. The smaller side is indexed. It is broadcast, or, if the join has an equality and neither side is
 * small, both sides are shuffled by the keys. Spark plans:
 *   1. joins with a hint for one of Spark's own joins;
 *   1. joins with an equality whose range is open at one end: most rows of a key are matches there;
 *   1. joins with an equality where one side has each key once: an index has nothing to search among its rows;
 *   1. joins below a LIMIT without ORDER BY that takes the first rows for each row of an outer query;
 *   1. joins without an equality, if both sides are too large to index on the driver and [[DistributeRangeJoin]] has
 *      not added a key.
 */
object RangeJoinStrategy extends SparkStrategy with JoinSelectionHelper with SQLConfHelper with Logging {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case join: Join if JoineryConf.rangeJoinEnabled && RangeJoinType.supports(join.joinType) && !join.isStreaming =>
      lazy val conditions = new RangeConditions(join) // lazy: mayBeIn rules out most joins without it
      if (!RangeConditions.mayBeIn(join) || conditions.comparisons.isEmpty) notARange(join)
      else choose(join, conditions) match {
        case Right(Choice(side, isBroadcast, why)) =>
          Decision.record(join, Decision.RangeJoin, why)
          join.setTagValue(Taken, ())
          val (left, right, terms) = (planLater(join.left), planLater(join.right), conditions.terms(side).get)
          Seq(
            if (isBroadcast) broadcast(join, side, terms, left, right)
            else ShuffledRangeJoinExec(left, right, side, join.joinType, terms))
        case Left(why) => declined(join, why)
      }
    case window: Window =>
      SubqueryLimit.markJoinsBelow(window) // the joins below are planned later
      Nil
    case side: StoredRangeSide => Seq(planLater(side.child)) // the plain rows: `broadcast` loads the index
    case _ => Nil
  }

  /**
   * Plans a broadcast range join. The indexed side is the index of the artifact store, if there is one. Without keys,
   * tasks sort the rows of the indexed side.
   */
  private def broadcast(
      join: Join,
      side: BuildSide,
      terms: RangeTerms,
      left: SparkPlan,
      right: SparkPlan): SparkPlan = {
    val indexed = sideOf(join, side)
    val keepsAll = RangeJoinType.givesOutIndexed(join.joinType, side)
    def prepared(plan: SparkPlan): SparkPlan = {
      val prepared = indexed match {
        case stored: StoredRangeSide if stored.isCurrent =>
          StoredRangeSideExec(stored, terms.layout(indexed.output, keepsAll))
        case _ if terms.indexedKeys.nonEmpty || isBroadcast(indexed) => plan
        case _ => SortForRangeIndexExec(terms.start, terms.end, keepsAll, plan)
      }
      // Without this link, the broadcast would be linked to the join, and its row count would be taken for the join's.
      if (prepared ne plan) prepared.setLogicalLink(indexed)
      prepared
    }
    if (side == BuildLeft) new BroadcastRangeJoinExec(prepared(left), right, side, join.joinType, terms)
    else new BroadcastRangeJoinExec(left, prepared(right), side, join.joinType, terms)
  }

  /** Marks a join that was planned as a range join before. */
  private val Taken = TreeNodeTag[Unit]("joinery_range_join")

  private def notARange(join: Join): Seq[SparkPlan] =
    if (RangeJoinHint.isOn(join.hint))
      declined(join, s"hint ${RangeJoinHint.Name}: the condition compares no term of one side with one of the other")
    else Nil

  private def declined(join: Join, why: String): Seq[SparkPlan] = {
    Decision.record(join, Decision.RangeJoin, why)
    Nil
  }

  private case class Choice(side: BuildSide, isBroadcast: Boolean, why: String)

  /** Checks last that Spark has not broadcast a side: EXPLAIN then shows the original reason for a decline. */
  private def choose(join: Join, conditions: RangeConditions): Either[String, Choice] =
    wanted(join, conditions).filterOrElse(
      choice => isBroadcast(sideOf(join, choice.side)) || !Seq(join.left, join.right).exists(isBroadcastBySpark),
      "Spark has broadcast a side already")

  private def wanted(join: Join, conditions: RangeConditions): Either[String, Choice] = {
    val hints = Seq(BuildLeft -> join.hint.leftHint, BuildRight -> join.hint.rightHint)
    val hasKeys = conditions.leftKeys.nonEmpty
    val safe = Seq(BuildRight, BuildLeft).filterNot(readsOtherRowsBeside(join, _))
    val sides =
      if (safe.isEmpty) Seq(BuildRight, BuildLeft) else safe // without keys, Spark's join reads a side twice, too
    val hinted = hints.collectFirst {
      case (side, Some(hint)) if sides.contains(side) && hint.strategy.contains(BROADCAST) => side
    }
    val insists = RangeJoinHint.isOn(join.hint)
    val broadcastAlready = Seq(BuildLeft, BuildRight).find(side => isBroadcast(sideOf(join, side)))
    val otherHints = hints.flatMap(_._2).flatMap(_.strategy).filter(isOfUser(join, _))
    val stored = sides.find(side => hasIndex(sideOf(join, side)))
    val side = broadcastAlready.orElse(hinted).orElse(stored).getOrElse(sides.minBy(cost(join, _)))
    val bytes = size(join, side)
    if (SubqueryLimit.isAbove(join))
      Left("a LIMIT without ORDER BY, of a correlated subquery, takes the rows that come first")
    else if (conditions.usable.isEmpty)
      Left(s"no index for ${conditions.comparisons.head.dataType.sql}")
    else if (conditions.unequalBytes.isDefined)
      Left(s"an equality of ${conditions.unequalBytes.get.sql}, not by its bytes")
    else if (conditions.terms(side).isEmpty) Left("a floating-point difference with one limit only")
    else if (!join.condition.forall(_.deterministic)) Left("the condition is not deterministic")
    else if (broadcastAlready.isDefined)
      Right(Choice(side, isBroadcast = true, "the indexed side is broadcast already"))
    else if (otherHints.nonEmpty && !insists) Left(s"hint ${otherHints.head.displayName}")
    else if (hasKeys && !insists && conditions.terms(side).get.bounds.length < 2)
      Left(s"the range next to the equality is open at one end: hint ${RangeJoinHint.Name} insists")
    else if (hasKeys && safe.isEmpty)
      Right(Choice(side, isBroadcast = false, s"both sides are kept: of a broadcast $ReadTwice"))
    else if (stored.contains(side) && KryoRegistration.missing.isEmpty)
      Right(Choice(side, isBroadcast = true, "the artifact store has an index"))
    else if (hasKeys && !insists && hasUniqueKeys(join, conditions))
      Left(s"one side has each key once: hint ${RangeJoinHint.Name} insists")
    else if (KryoRegistration.missing.isDefined)
      if (hasKeys) Right(Choice(side, isBroadcast = false, KryoRegistration.missing.get))
      else Left(KryoRegistration.missing.get)
    else if (hasKeys && hinted.isEmpty && (bytes > limit || !mayBroadcast(join, side)))
      Right(Choice(
        side,
        isBroadcast = false,
        s"a range next to an equality; no side is small enough to broadcast ($bytes bytes)"))
    else if (bytes <= limit || hinted.isDefined)
      Right(Choice(
        side,
        isBroadcast = true,
        if (insists || hinted.isDefined) "hint" else s"the indexed side is small ($bytes bytes)"))
    else if (sides.length == 1 && size(join, opposite(side)) <= limit)
      Left(s"the side that is small enough is kept, and $ReadTwice")
    else Left(
      s"both sides are too large to index on the driver ($bytes bytes, limit $limit bytes), and the range is not cut into parts: " +
        DistributeRangeJoin.whyWhole(join, conditions))
  }

  private def hasUniqueKeys(join: Join, conditions: RangeConditions): Boolean =
    Seq(join.left -> conditions.leftKeys, join.right -> conditions.rightKeys).exists { case (side, keys) =>
      val known = ExpressionSet(keys)
      planned(side).distinctKeys.exists(_.subsetOf(known))
    }

  /** The plan of a side before adaptive execution replaced parts of it by stages, which report fewer distinct keys. */
  private def planned(side: LogicalPlan): LogicalPlan = side.transformDownWithPruning(
    _.containsPattern(LOGICAL_QUERY_STAGE)) { case stage: LogicalQueryStage => beneath(stage) }

  @tailrec private def beneath(plan: LogicalPlan): LogicalPlan = plan match {
    case stage: LogicalQueryStage => beneath(stage.logicalPlan)
    case _ => plan
  }

  /**
   * True if a user asks for one of Spark's joins other than a broadcast join. Adaptive execution adds hints for Spark's
   * own joins; Spark 4.1 adds one that users cannot give.
   */
  private def isOfUser(join: Join, hint: JoinStrategyHint): Boolean = hint match {
    case BROADCAST | NO_BROADCAST_HASH => false
    case SHUFFLE_MERGE | SHUFFLE_REPLICATE_NL => true
    case _ => join.getTagValue(Taken).isEmpty
  }

  private def mayBroadcast(join: Join, side: BuildSide): Boolean = {
    val hint = if (side == BuildLeft) join.hint.leftHint else join.hint.rightHint
    canBroadcastBySize(sideOf(join, side), conf) && !hint.exists(_.strategy.contains(NO_BROADCAST_HASH))
  }

  /** Cost of indexing a side: its size, times three if the join preserves its rows. */
  private def cost(join: Join, side: BuildSide): BigInt =
    size(join, side) * (if (RangeJoinType.givesOutIndexed(join.joinType, side)) 3 else 1)

  private val ReadTwice = "the other would be read twice, and may have other rows by then"

  /**
   * True if, with this side indexed, the join reads the other side twice and the second read may return other rows. One
   * read finds the matches, the other the indexed rows without a match.
   */
  private[rangejoin] def readsOtherRowsBeside(join: Join, indexed: BuildSide): Boolean =
    (join.joinType, indexed) match {
      case (FullOuter, _) => !Seq(join.left, join.right).forall(Repeatable.withinOneOperator)
      case (LeftOuter, BuildLeft) => !Repeatable.withinOneOperator(join.right)
      case (RightOuter, BuildRight) => !Repeatable.withinOneOperator(join.left)
      case _ => false
    }

  private def opposite(side: BuildSide): BuildSide = if (side == BuildLeft) BuildRight else BuildLeft

  private def sideOf(join: Join, side: BuildSide): LogicalPlan = if (side == BuildLeft) join.left else join.right

  private def size(join: Join, side: BuildSide): BigInt = sideOf(join, side).stats.sizeInBytes

  /**
   * Largest estimated size of a side that is indexed on the driver. Estimates are usually sizes of files, so this is a
   * quarter of the limit in memory.
   */
  private[rangejoin] def limit: Long = JoineryConf.rangeJoinMaxBroadcast / 4

  // A side that is already broadcast as an index stays the indexed side. Its stage reports the size in memory, and
  // comparing sizes again would flip the choice.
  private def isBroadcast(plan: LogicalPlan): Boolean = modeOf(plan).exists(_.isInstanceOf[RangeIndexBroadcastMode])

  /**
   * True if a side is broadcast for one of Spark's own joins, because both sides seemed too large to index before. A
   * range join cannot use that broadcast.
   */
  private def isBroadcastBySpark(plan: LogicalPlan): Boolean =
    modeOf(plan).exists(!_.isInstanceOf[RangeIndexBroadcastMode])

  private def hasIndex(plan: LogicalPlan): Boolean = plan match {
    case side: StoredRangeSide => side.isCurrent
    case _ => false
  }

  /** The mode of a side that adaptive execution has broadcast. */
  private def modeOf(plan: LogicalPlan): Option[BroadcastMode] = plan match {
    case side: StoredRangeSide => modeOf(side.child)
    case stage: LogicalQueryStage => stage.physicalPlan.collectFirst { case broadcast: BroadcastQueryStageExec =>
        broadcast.broadcast.outputPartitioning
      }.collect { case BroadcastPartitioning(mode) => mode }
    case _ => None
  }
}
