package io.github.sparkjoinery.filters.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.BuildLeft
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanHelper, QueryStageExec, ShuffleQueryStageExec}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.execution.joins.{ShuffledHashJoinExec, SortMergeJoinExec}
import org.apache.spark.sql.execution.{FilterExec, LeafExecNode, SparkPlan}
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.expressions.{HashedKey, MightContain, StoredFilter}
import io.github.sparkjoinery.filters.logical.{FilterableJoin, ShuffledSide}
import io.github.sparkjoinery.filters.runtime.ShuffledKeys
import io.github.sparkjoinery.planning.{MatchesRightRows, Repeatable}

/**
 * Where both sides of a join are shuffled, and one has turned out to have few rows, drops rows of the other that match
 * none of its keys, before they are sorted:
 * {{{
 *   SortMergeJoin                 SortMergeJoin
 *   :- Sort                       :- Sort
 *   :  +- ShuffleQueryStage 0     :  +- Filter joinery_might_contain(k, shuffled rows of planes)
 *   +- Sort                 ==>   :     +- ShuffleQueryStage 0
 *      +- ShuffleQueryStage 1     +- Sort
 *                                    +- ShuffleQueryStage 1
 * }}}
 * It needs no estimate, and trusts any source: its keys are of the very rows that are joined, which have been shuffled
 * already and are read once more. For intermediate results, that is, which no filter could be built of before. What
 * draws lots, or takes rows in the order in which they come, is left alone: a stage that is lost is computed anew.
 */
object FilterShuffledRows extends Rule[SparkPlan] with AdaptiveSparkPlanHelper {

  // So many times as many rows as keys make it worth while to read the few twice.
  private val Fewer = 10
  // What a side has read, as often as it has rows left: if most are left, most of the other side's will have a match.
  private val Selective = 2

  override def apply(plan: SparkPlan): SparkPlan =
    if (!JoineryConf.runtimeFilterBuild) plan
    else plan.transformUp {
      case join @ SortMergeJoinExec(leftKeys, rightKeys, joinType, _, _, _, _) =>
        filtered(join, leftKeys, rightKeys, FilterableJoin.dropsLeft(joinType), FilterableJoin.dropsRight(joinType))
      // A hash table costs as much to ask as a filter; only building it is worth saving.
      case join @ ShuffledHashJoinExec(leftKeys, rightKeys, joinType, side, _, _, _, _) =>
        val isLeft = side == BuildLeft
        filtered(join, leftKeys, rightKeys, isLeft && FilterableJoin.dropsLeft(joinType), !isLeft && FilterableJoin.dropsRight(joinType))
      case join: MatchesRightRows => filtered(join, join.leftKeys, join.rightKeys, dropLeft = false, dropRight = true)
    }

  private def filtered(
      join: SparkPlan,
      leftKeys: Seq[Expression],
      rightKeys: Seq[Expression],
      dropLeft: Boolean,
      dropRight: Boolean): SparkPlan = {
    val Seq(left, right) = join.children
    def of(plan: SparkPlan, keys: Seq[Expression]) =
      if (keys.forall(_.deterministic)) ShuffledSide.of(plan, keys) else None
    val shuffled = for (l <- of(left, leftKeys); r <- of(right, rightKeys)) yield (l, r)
    shuffled.flatMap { case (l, r) =>
      val test = if (dropLeft) testOf(l, r).map(test => Seq(l.filtered(test), right)) else None
      test.orElse(if (dropRight) testOf(r, l).map(test => Seq(left, r.filtered(test))) else None)
    }.fold(join)(join.withNewChildren)
  }

  /** What rows of one side have to pass to match any of the other; None if it is not worth while. */
  private def testOf(side: ShuffledSide, other: ShuffledSide): Option[Expression] = for {
    rows <- side.stage.getRuntimeStatistics.rowCount
    keys <- other.stage.getRuntimeStatistics.rowCount
    if keys <= JoineryConf.runtimeFilterMaxKeys && keys * Fewer <= rows && isSelective(other.stage, keys)
    if side.stage.getRuntimeStatistics.sizeInBytes >= JoineryConf.runtimeFilterMinSize
    pairs = other.keys.zip(side.keys).flatMap {
      case (Some(mine), Some(theirs)) => hashed(mine, theirs)
      case _ => None
    }
    if pairs.nonEmpty && isSettled(other.stage)
    hash = HashedKey.hash(pairs.map(_._2))
    if !isTested(side.stage, hash)
    found <- ShuffledKeys.read(other.stage, Some(HashedKey.hash(pairs.map(_._1))), Nil)
    filter <- found.filter
  } yield MightContain(hash, StoredFilter(filter), pauses = !side.mayFailOfParts)

  /** Whether it has the same keys again where an executor that is lost takes a part of it along. */
  private def isSettled(stage: ShuffleQueryStageExec): Boolean = stage.logicalLink.exists(Repeatable.ofSameTables)

  private def hashed(mine: Expression, theirs: Expression): Option[(Expression, Expression)] =
    if (HashedKey.typeOf(mine.dataType) == HashedKey.typeOf(theirs.dataType))
      HashedKey.of(mine).zip(HashedKey.of(theirs))
    else None

  /** Whether a stage has dropped rows of what it read. */
  private def isSelective(stage: ShuffleQueryStageExec, rows: BigInt): Boolean = {
    val read = rowsRead(stage)
    // An aggregate has fewer rows, but not fewer keys.
    val kept = collectFirst(stage) { case aggregate: BaseAggregateExec => rowsBelow(aggregate) }
      .fold(Option(rows))(_.map(BigInt(_)))
    read.forall(_.isDefined) && kept.exists(kept => BigInt(read.flatten.sum) >= kept * Selective)
  }

  /** That an aggregate has taken; None if they have not been counted. */
  private def rowsBelow(aggregate: SparkPlan): Option[Long] = aggregate.children match {
    case Seq(below: BaseAggregateExec) => rowsBelow(below)
    case Seq(below) => below.metrics.get("numOutputRows").map(_.value).orElse(rowsBelow(below))
    case _ => None
  }

  /** Of each table; None where it has not been counted. */
  private def rowsRead(plan: SparkPlan): Seq[Option[Long]] = collect(plan) {
    case reused: ReusedExchangeExec => rowsRead(reused.child)
    case leaf: LeafExecNode if !leaf.isInstanceOf[QueryStageExec] =>
      Seq(leaf.metrics.get("numOutputRows").map(_.value))
  }.flatten

  /** Whether rows have been tested by these keys before they were shuffled. */
  private def isTested(stage: ShuffleQueryStageExec, hash: Expression): Boolean = collect(stage) {
    case FilterExec(condition, _) => condition.collect { case test: MightContain => test.hash }
  }.flatten.exists(_.semanticEquals(hash))
}
