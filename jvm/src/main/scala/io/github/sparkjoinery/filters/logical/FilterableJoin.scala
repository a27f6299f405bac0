package io.github.sparkjoinery.filters.logical

import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.{ShuffledHashJoinExec, SortMergeJoinExec}

import io.github.sparkjoinery.planning.plans.BroadcastSide
import io.github.sparkjoinery.planning.plans.{LeftOuterLike, ShuffledLeftOuterLike}

/**
 * A join that may drop rows without a match.
 *
 * @param sides
 *   the sides whose rows may be dropped
 */
case class FilterableJoin(
    join: LogicalPlan,
    condition: Option[Expression],
    hint: JoinHint,
    sides: Seq[ApplicationSide])

object FilterableJoin extends BroadcastSide with SQLConfHelper {

  /** Marks a join whose stored filters are as good as any that a query could build. */
  val HasSufficientFilter: TreeNodeTag[Unit] = TreeNodeTag("joinery_filter_sufficient")

  /** Marks a join with the side that is to be filtered; None: no side. The decision is made once for a query. */
  val Decision: TreeNodeTag[Option[Boolean]] = TreeNodeTag("joinery_application_side")

  /** Marks a join whose keys have been read. It does not wait again. */
  val Filtered: TreeNodeTag[Unit] = TreeNodeTag("joinery_filtered_by_shuffled_keys")

  def unapply(plan: LogicalPlan): Option[FilterableJoin] = plan match {
    case join: Join if !join.isStreaming =>
      val left = if (dropsLeft(join.joinType)) Seq(ApplicationSide(isLeft = true, join.left, join.right)) else Nil
      val right = if (dropsRight(join.joinType)) Seq(ApplicationSide(isLeft = false, join.right, join.left)) else Nil
      Some(FilterableJoin(join, join.condition, join.hint, left ++ right))
    case join: LeftOuterLike if !join.isStreaming =>
      Some(FilterableJoin(
        join,
        join.condition,
        join.hint,
        Seq(ApplicationSide(isLeft = false, join.right, join.left))))
    case _ => None
  }

  /** True if a side of the join will be broadcast, by hint or by size. */
  def isBroadcast(plan: LogicalPlan): Boolean = plan match {
    case join: Join => isBroadcast(join)
    case join: LeftOuterLike => join.isBroadcast
    case _ => false
  }

  private def isBroadcast(join: Join): Boolean = {
    val otherwise =
      hintToSortMergeJoin(join.hint) || hintToShuffleHashJoin(join.hint) || hintToShuffleReplicateNL(join.hint)
    broadcastSide(join, hintOnly = true, conf).isDefined ||
    !otherwise && broadcastSide(join, hintOnly = false, conf).isDefined
  }

  /** True for the operators of joins that shuffle both sides. */
  def isShuffled(join: SparkPlan): Boolean = join match {
    case _: SortMergeJoinExec | _: ShuffledHashJoinExec | _: ShuffledLeftOuterLike => true
    case _ => false
  }

  def dropsLeft(joinType: JoinType): Boolean = joinType match {
    case _: InnerLike | LeftSemi | RightOuter => true
    case _ => false
  }

  def dropsRight(joinType: JoinType): Boolean = joinType match {
    case _: InnerLike | LeftSemi | LeftAnti | LeftOuter | _: ExistenceJoin => true
    case _ => false
  }
}
