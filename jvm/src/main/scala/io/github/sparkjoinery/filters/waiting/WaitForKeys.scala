package io.github.sparkjoinery.filters.waiting

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.adaptive.QueryStageExec
import org.apache.spark.sql.execution.exchange.{Exchange, ShuffleExchangeExec}
import org.apache.spark.sql.execution.joins.{ShuffledHashJoinExec, SortMergeJoinExec}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.expressions.MightContain
import io.github.sparkjoinery.filters.built.{FilterCost, JoinTerms}
import io.github.sparkjoinery.planning._

/** Has a large side of a join wait for the shuffle of a small side's rows, of which a filter may be made. */
object WaitForKeys extends Rule[SparkPlan] with PredicateHelper {

  override def apply(plan: SparkPlan): SparkPlan =
    if (!JoineryConf.runtimeFilterBuild || !conf.exchangeReuseEnabled) plan
    else {
      val cost = new FilterCost
      plan.transformUp {
        case join @ (_: SortMergeJoinExec | _: ShuffledHashJoinExec | _: MatchesRightRows) =>
          (join.logicalLink match {
            case Some(logical: Join) => Some((logical, logical.condition, Directions.of(logical)))
            case Some(logical: PreservesLeft) => Some((logical, logical.condition, Seq(false)))
            case _ => None
          }).fold(join) { case (logical, condition, directions) => waiting(join, logical, condition, directions, cost) }
      }
    }

  private def waiting(
      join: SparkPlan,
      logical: LogicalPlan,
      condition: Option[Expression],
      directions: Seq[Boolean],
      cost: FilterCost): SparkPlan = {
    val Seq(left, right) = logical.children
    val found = directions.to(LazyList).flatMap { isLeft =>
      val (side, other) = if (isLeft) (left, right) else (right, left)
      val (mine, theirs) = if (isLeft) (join.children(0), join.children(1)) else (join.children(1), join.children(0))
      for {
        exchange <- keyExchange(theirs)
        if cost.largestScan(side) >= JoineryConf.runtimeFilterMinSize
        terms = JoinTerms.of(condition, side, other)
        if !terms.isEmpty
        small <- exchange.child.logicalLink
        if !small.exists(_.expressions.exists(_.exists(_.isInstanceOf[MightContain])))
        if new cost.Side(side, other).missing(small, terms.keys.map(_.theirs), isBuilt = false).isEmpty
        awaiting = wait(mine, exchange, terms)
        if !awaiting.fastEquals(mine)
      } yield join.withNewChildren(if (isLeft) Seq(awaiting, theirs) else Seq(theirs, awaiting))
    }
    found.headOption.getOrElse(join)
  }

  /** The smallest shuffle on the way to a join; None where some are through, as a filter could have been made then. */
  private def keyExchange(plan: SparkPlan): Option[ShuffleExchangeExec] = {
    val found = topmost(plan)
    if (found.isEmpty || found.exists(_.isInstanceOf[QueryStageExec])) None
    else found.collect { case shuffle: ShuffleExchangeExec => shuffle }
      .minByOption(_.child.logicalLink.fold(BigInt(Long.MaxValue))(new FilterCost().largestScan))
  }

  private def topmost(plan: SparkPlan): Seq[SparkPlan] = plan match {
    case _: ShuffleExchangeExec | _: QueryStageExec => Seq(plan)
    case _: Exchange => Nil
    case _: AwaitKeysExec => topmost(plan.children.head)
    case _ => plan.children.flatMap(topmost)
  }

  private def wait(plan: SparkPlan, keys: ShuffleExchangeExec, terms: JoinTerms): SparkPlan = plan match {
    case exchange: ShuffleExchangeExec if !hasShuffle(exchange.child) =>
      val shown = s"joinery_might_contain(${terms.keys.map(_.theirs).mkString(", ")})"
      val awaiting = AwaitKeysExec(exchange.child, keys, shown)
      exchange.child.logicalLink.foreach(awaiting.setTagValue(SparkPlan.LOGICAL_PLAN_TAG, _))
      exchange.withNewChildren(Seq(awaiting))
    case _: QueryStageExec => plan
    case _ => plan.withNewChildren(plan.children.map(wait(_, keys, terms)))
  }

  private def hasShuffle(plan: SparkPlan): Boolean = plan.exists {
    case _: Exchange | _: QueryStageExec => true
    case _ => false
  }
}

object Directions {

  /** Sides whose rows may be dropped: true for the left one. */
  def of(join: Join): Seq[Boolean] = {
    val left = join.joinType match {
      case _: InnerLike | LeftSemi | RightOuter => Seq(true)
      case _ => Nil
    }
    val right = join.joinType match {
      case _: InnerLike | LeftSemi | LeftAnti | LeftOuter | _: ExistenceJoin => Seq(false)
      case _ => Nil
    }
    left ++ right
  }
}
