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

import io.github.sparkjoinery.expressions.{HashedKey, KnownFilter, MightContain}
import io.github.sparkjoinery.filters.logical.{FilterableJoin, ShuffledSide}
import io.github.sparkjoinery.filters.runtime.ShuffledKeys
import io.github.sparkjoinery.planning.plans.{Repeatable, ShuffledLeftOuterLike}

/**
 * Drops rows of one side of a join that match no key of the other side, before they are sorted. Both sides have been
 * shuffled by then, and the other side has turned out to have few rows:
 * {{{
 *   SortMergeJoin                 SortMergeJoin
 *   :- Sort                       :- Sort
 *   :  +- ShuffleQueryStage 0     :  +- Filter joinery_might_contain(k, shuffled rows of planes)
 *   +- Sort                 ==>   :     +- ShuffleQueryStage 0
 *      +- ShuffleQueryStage 1     +- Sort
 *                                    +- ShuffleQueryStage 1
 * }}}
 * The rule needs no estimate, and trusts any source: the keys come from the very rows that are joined. These have been
 * shuffled already, and are read once more. The rule helps with intermediate results, from which no filter could be
 * built before. It leaves plans alone that draw random numbers, or take rows in the order in which they come. A lost
 * stage of such a plan is computed again, and may have other rows.
 */
object FilterShuffledRows extends Rule[SparkPlan] with AdaptiveSparkPlanHelper {

  // Reading the few rows twice pays if the other side has at least this many times as many rows.
  private val Fewer = 10
  // A side is selective if it has read at least this many times the rows that are left. If most of its rows are left,
  // most rows of the other side have a match.
  private val Selective = 2

  override def apply(plan: SparkPlan): SparkPlan =
    if (!JoineryConf.runtimeFilterBuild) plan
    else plan.transformUp {
      case join @ SortMergeJoinExec(leftKeys, rightKeys, joinType, _, _, _, _) =>
        filtered(join, leftKeys, rightKeys, FilterableJoin.dropsLeft(joinType), FilterableJoin.dropsRight(joinType))
      // Probing a hash table costs as much as a filter; only building it is worth saving.
      case join @ ShuffledHashJoinExec(leftKeys, rightKeys, joinType, side, _, _, _, _) =>
        val isLeft = side == BuildLeft
        filtered(
          join,
          leftKeys,
          rightKeys,
          isLeft && FilterableJoin.dropsLeft(joinType),
          !isLeft && FilterableJoin.dropsRight(joinType))
      case join: ShuffledLeftOuterLike =>
        filtered(join, join.leftKeys, join.rightKeys, dropLeft = false, dropRight = true)
    }

  private def filtered(
      join: SparkPlan,
      leftKeys: Seq[Expression],
      rightKeys: Seq[Expression],
      dropLeft: Boolean,
      dropRight: Boolean): SparkPlan = {
    val Seq(left, right) = join.children
    def shuffledSide(plan: SparkPlan, keys: Seq[Expression]) =
      if (keys.forall(_.deterministic)) ShuffledSide.find(plan, keys) else None
    val shuffled = for (l <- shuffledSide(left, leftKeys); r <- shuffledSide(right, rightKeys)) yield (l, r)
    shuffled.flatMap { case (l, r) =>
      val test = if (dropLeft) testOf(l, r).map(test => Seq(l.filtered(test), right)) else None
      test.orElse(if (dropRight) testOf(r, l).map(test => Seq(left, r.filtered(test))) else None)
    }.fold(join)(join.withNewChildren)
  }

  /** The predicate that rows of one side have to pass to match any row of the other; None if it does not pay. */
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
  } yield MightContain(hash, KnownFilter(filter), pauses = !side.mayFailOnPartialKeys)

  /** True if the stage has the same keys again after an executor is lost with a part of it. */
  private def isSettled(stage: ShuffleQueryStageExec): Boolean = stage.logicalLink.exists(Repeatable.afterStageRetry)

  private def hashed(mine: Expression, theirs: Expression): Option[(Expression, Expression)] =
    if (HashedKey.typeOf(mine.dataType) == HashedKey.typeOf(theirs.dataType))
      for (my <- HashedKey.hashable(mine); their <- HashedKey.hashable(theirs)) yield (my, their)
    else None

  /** True if a stage has dropped enough of the rows that it read. */
  private def isSelective(stage: ShuffleQueryStageExec, rows: BigInt): Boolean = {
    val read = rowsRead(stage)
    // An aggregate reduces the number of rows, but not the number of keys.
    val kept = collectFirst(stage) { case aggregate: BaseAggregateExec => rowsBelow(aggregate) }
      .fold(Option(rows))(_.map(BigInt(_)))
    read.forall(_.isDefined) && kept.exists(kept => BigInt(read.flatten.sum) >= kept * Selective)
  }

  /** The number of rows that an aggregate has read; None if they were not counted. */
  private def rowsBelow(aggregate: SparkPlan): Option[Long] = aggregate.children match {
    case Seq(below: BaseAggregateExec) => rowsBelow(below)
    case Seq(below) => below.metrics.get("numOutputRows").map(_.value).orElse(rowsBelow(below))
    case _ => None
  }

  /** The number of rows read from each table; None for a table whose rows were not counted. */
  private def rowsRead(plan: SparkPlan): Seq[Option[Long]] = collect(plan) {
    case reused: ReusedExchangeExec => rowsRead(reused.child)
    case leaf: LeafExecNode if !leaf.isInstanceOf[QueryStageExec] =>
      Seq(leaf.metrics.get("numOutputRows").map(_.value))
  }.flatten

  /** True if rows were tested by these keys before the shuffle. */
  private def isTested(stage: ShuffleQueryStageExec, hash: Expression): Boolean = collect(stage) {
    case FilterExec(condition, _) => condition.collect { case test: MightContain => test.hash }
  }.flatten.exists(_.semanticEquals(hash))
}
