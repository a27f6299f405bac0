package io.github.sparkjoinery.rangejoin.rules

import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.JOIN
import org.apache.spark.sql.joinery.JoineryConf
import org.apache.spark.sql.joinery.SparkSession

import io.github.sparkjoinery.artifacts._
import io.github.sparkjoinery.planning.explain.Decision
import io.github.sparkjoinery.rangejoin.logical.{RangeConditions, RangeJoinType}
import io.github.sparkjoinery.rangejoin.stored.{StoredRangeIndex, StoredRangeSide}

/**
 * Lets a join load a range index from the artifact store. A side has to be a relation with a valid index, and loading
 * that index has to be the cheapest plan:
 * {{{
 *   Join p.x BETWEEN r.lo AND r.hi        Join p.x BETWEEN r.lo AND r.hi
 *   :- points p                    ==>    :- points p
 *   +- ranges r                           +- StoredRangeSide ranges (lo, hi)
 *                                            +- ranges r
 * }}}
 * A damaged artifact never fails the query. The query runs without the artifact, and the join keeps the reason.
 */
object UseStoredRangeIndex extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!JoineryConf.rangeJoinEnabled || !JoineryConf.rangeJoinStoredIndex || JoineryConf.store.isEmpty) plan
    else {
      lazy val session = SparkSession.active
      lazy val store = StoreAccess.open(session)
      plan.transformUpWithPruning(_.containsPattern(JOIN)) {
        case join: Join if isCandidate(join) => store.fold[LogicalPlan](join)(use(join, _, session))
      }
    }

  private def isCandidate(join: Join): Boolean = {
    val hints = (join.hint.leftHint ++ join.hint.rightHint).flatMap(_.strategy)
    RangeJoinType.supports(join.joinType) && !join.isStreaming && join.condition.exists(_.deterministic) &&
    hints.forall(_ == BROADCAST) &&
    !Seq(join.left, join.right).exists(_.isInstanceOf[StoredRangeSide]) // only one side is indexed
  }

  private def use(join: Join, store: StoreAccess, session: SparkSession): Join =
    try {
      val conditions = new RangeConditions(join)
      val hasKeys = conditions.leftKeys.nonEmpty
      val found = for {
        side <- sidesOf(join)
        terms <- conditions.terms(side).toSeq
        if !hasKeys || terms.bounds.length == 2 || RangeJoinHint.isOn(join.hint)
        stored <- StoredRangeSearch(join, side, terms, hasKeys, store, session)
      } yield side -> stored
      val chosen = found.collectFirst { case (side, Right(index)) => side -> index }
      val result = chosen.fold(join) { case (side, index) => withStored(join, side, index) }
      result.copyTagsFrom(join)
      val reasons = chosen.map { case (_, index) => s"loads ${index.describe}" } ++ found.flatMap(_._2.left.toOption)
      if (reasons.nonEmpty) Decision.record(result, Decision.StoredRangeIndex, reasons.mkString("; "))
      result
    } catch {
      case StoreAccess.Trouble(failure) =>
        logWarning("No stored range index for this query", failure)
        Decision.record(join, Decision.StoredRangeIndex, s"no stored range index: ${StoreAccess.reason(failure)}")
        join
    }

  /** The sides that may be indexed. */
  private def sidesOf(join: Join): Seq[BuildSide] = {
    val hinted = Seq(BuildLeft -> join.hint.leftHint, BuildRight -> join.hint.rightHint)
      .collect { case (side, Some(hint)) if hint.strategy.contains(BROADCAST) => side }
    (if (hinted.isEmpty) Seq(BuildLeft, BuildRight) else hinted)
      .filterNot(RangeJoinStrategy.readsOtherRowsBeside(join, _))
  }

  private def withStored(join: Join, side: BuildSide, index: StoredRangeIndex): Join =
    if (side == BuildLeft) join.copy(left = StoredRangeSide(join.left)(index))
    else join.copy(right = StoredRangeSide(join.right)(index))
}
