package io.github.sparkjoinery.rangejoin

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
import org.apache.spark.sql.joinery.{JoineryConf, Shipping}

import io.github.sparkjoinery.planning.{Decision, Repeatable}
import io.github.sparkjoinery.rangejoin.stored.{StoredRangeSide, StoredRangeSideExec}

/**
 * Takes joins whose condition compares a term of one side with a term of the other, once more on every re-plan of
 * adaptive execution. The smaller side is indexed: broadcast, or, beside an equality and where neither side is small,
 * after a shuffle by the keys. Spark keeps:
 *   1. what a hint of its own asks for;
 *   1. joins with an equality whose range is open at one end: most rows of a key are matches there;
 *   1. joins with an equality of which one side has each key once: then there is nothing to look up among its rows;
 *   1. joins of which a LIMIT without ORDER BY takes the first rows for each row of an outer query;
 *   1. joins without an equality whose sides are both beyond what the driver can index, and which
 *      [[DistributeRangeJoin]] has not given one.
 */
object RangeJoinStrategy extends SparkStrategy with JoinSelectionHelper with SQLConfHelper with Logging {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case join: Join if JoineryConf.rangeJoinEnabled && RangeJoinType.supports(join.joinType) && !join.isStreaming =>
      lazy val conditions = new RangeConditions(join) // most joins are told apart before they are looked at so closely
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
      LimitOfSubquery.markJoinsBelow(window) // which are planned after it
      Nil
    case side: StoredRangeSide => Seq(planLater(side.child)) // it is not the indexed one
    case _ => Nil
  }

  /** The indexed side is the store's index, if it has one. Else, where the range alone is indexed, tasks sort rows. */
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
      // or its broadcast would stand for the join, which then had as many rows
      if (prepared ne plan) prepared.setLogicalLink(indexed)
      prepared
    }
    if (side == BuildLeft) new BroadcastRangeJoinExec(prepared(left), right, side, join.joinType, terms)
    else new BroadcastRangeJoinExec(left, prepared(right), side, join.joinType, terms)
  }

  /** On a join that was planned as a range join before. */
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

  /** That Spark has broadcast a side is said last: of a join that is Spark's anyway, it would hide why. */
  private def choose(join: Join, conditions: RangeConditions): Either[String, Choice] =
    wanted(join, conditions).filterOrElse(
      choice => isBroadcast(sideOf(join, choice.side)) || !Seq(join.left, join.right).exists(isBroadcastBySpark),
      "Spark has broadcast a side already")

  private def wanted(join: Join, conditions: RangeConditions): Either[String, Choice] = {
    val hints = Seq(BuildLeft -> join.hint.leftHint, BuildRight -> join.hint.rightHint)
    val hasKeys = conditions.leftKeys.nonEmpty
    val safe = Seq(BuildRight, BuildLeft).filterNot(readsOtherRowsBeside(join, _))
    val sides =
      if (safe.isEmpty) Seq(BuildRight, BuildLeft) else safe // Spark's join reads one twice, too, without keys
    val hinted = hints.collectFirst {
      case (side, Some(hint)) if sides.contains(side) && hint.strategy.contains(BROADCAST) => side
    }
    val insists = RangeJoinHint.isOn(join.hint)
    val broadcastAlready = Seq(BuildLeft, BuildRight).find(side => isBroadcast(sideOf(join, side)))
    val otherHints = hints.flatMap(_._2).flatMap(_.strategy).filter(isOfUser(join, _))
    val stored = sides.find(side => hasIndex(sideOf(join, side)))
    val side = broadcastAlready.orElse(hinted).orElse(stored).getOrElse(sides.minBy(cost(join, _)))
    val bytes = size(join, side)
    if (LimitOfSubquery.isAbove(join))
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
      Left(s"the range beside the equality is open at one end: hint ${RangeJoinHint.Name} insists")
    else if (hasKeys && safe.isEmpty)
      Right(Choice(side, isBroadcast = false, s"both sides are kept: of a broadcast $ReadTwice"))
    else if (stored.contains(side) && Shipping.refused.isEmpty)
      Right(Choice(side, isBroadcast = true, "the artifact store has an index"))
    else if (hasKeys && !insists && hasUniqueKeys(join, conditions))
      Left(s"one side has each key once: hint ${RangeJoinHint.Name} insists")
    else if (Shipping.refused.isDefined)
      if (hasKeys) Right(Choice(side, isBroadcast = false, Shipping.refused.get)) else Left(Shipping.refused.get)
    else if (hasKeys && hinted.isEmpty && (bytes > limit || !mayBroadcast(join, side)))
      Right(Choice(
        side,
        isBroadcast = false,
        s"a range beside an equality; no side is small enough to broadcast ($bytes bytes)"))
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

  /** A side as it was before adaptive execution put stages in the place of its parts, which tell less. */
  private def planned(side: LogicalPlan): LogicalPlan = side.transformDownWithPruning(
    _.containsPattern(LOGICAL_QUERY_STAGE)) { case stage: LogicalQueryStage => beneath(stage) }

  @tailrec private def beneath(plan: LogicalPlan): LogicalPlan = plan match {
    case stage: LogicalQueryStage => beneath(stage.logicalPlan)
    case _ => plan
  }

  /**
   * Adaptive execution adds hints of its own, which are about Spark's joins; on Spark 4.1 one that users cannot give.
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

  /**
   * The smaller side is the cheaper; where they are much alike, the one of which no row has to be given out for itself.
   */
  private def cost(join: Join, side: BuildSide): BigInt =
    size(join, side) * (if (RangeJoinType.givesOutIndexed(join.joinType, side)) 3 else 1)

  private val ReadTwice = "the other would be read twice, and may have other rows by then"

  /**
   * Whether an index of a side would have the other one read twice, for the matches and for what has none, although its
   * rows may be others by then.
   */
  private[rangejoin] def readsOtherRowsBeside(join: Join, indexed: BuildSide): Boolean =
    (join.joinType, indexed) match {
      case (FullOuter, _) => !Seq(join.left, join.right).forall(Repeatable.ofOneOperator)
      case (LeftOuter, BuildLeft) => !Repeatable.ofOneOperator(join.right)
      case (RightOuter, BuildRight) => !Repeatable.ofOneOperator(join.left)
      case _ => false
    }

  private def opposite(side: BuildSide): BuildSide = if (side == BuildLeft) BuildRight else BuildLeft

  private def sideOf(join: Join, side: BuildSide): LogicalPlan = if (side == BuildLeft) join.left else join.right

  private def size(join: Join, side: BuildSide): BigInt = sideOf(join, side).stats.sizeInBytes

  /** Of an estimate, which is of bytes in files more often than not. */
  private[rangejoin] def limit: Long = JoineryConf.rangeJoinMaxBroadcast / 4

  // Once broadcast, a stage's size is what it takes in memory. Judging that anew would flip the choice back.
  private def isBroadcast(plan: LogicalPlan): Boolean = modeOf(plan).exists(_.isInstanceOf[RangeIndexBroadcastMode])

  /** For a join of its own, when the sides seemed too large: an index of either would have no use for that. */
  private def isBroadcastBySpark(plan: LogicalPlan): Boolean =
    modeOf(plan).exists(!_.isInstanceOf[RangeIndexBroadcastMode])

  private def hasIndex(plan: LogicalPlan): Boolean = plan match {
    case side: StoredRangeSide => side.isCurrent
    case _ => false
  }

  /** Of a side that adaptive execution has broadcast. */
  private def modeOf(plan: LogicalPlan): Option[BroadcastMode] = plan match {
    case side: StoredRangeSide => modeOf(side.child)
    case stage: LogicalQueryStage => stage.physicalPlan.collectFirst { case broadcast: BroadcastQueryStageExec =>
        broadcast.broadcast.outputPartitioning
      }.collect { case BroadcastPartitioning(mode) => mode }
    case _ => None
  }
}
