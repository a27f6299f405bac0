package io.github.sparkjoinery.filters.shuffled

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.BuildLeft
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.adaptive.{
  AQEShuffleReadExec,
  AdaptiveSparkPlanHelper,
  QueryStageExec,
  ShuffleQueryStageExec
}
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.execution.joins.{ShuffledHashJoinExec, SortMergeJoinExec}
import org.apache.spark.sql.execution.{FilterExec, LeafExecNode, SortExec, SparkPlan}
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.expressions.{HashedKey, MightContain}
import io.github.sparkjoinery.filters.built.{BuiltFilter, KeySubquery, KeySubqueryExec}
import io.github.sparkjoinery.planning.MatchesRightRows

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
 * already and are read once more. For intermediate results, that is, which no filter could be built of before.
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
        filtered(join, leftKeys, rightKeys, dropsLeft(joinType), dropsRight(joinType))
      // A hash table costs as much to ask as a filter; only building it is worth saving.
      case join @ ShuffledHashJoinExec(leftKeys, rightKeys, joinType, side, _, _, _, _) =>
        val isLeft = side == BuildLeft
        filtered(join, leftKeys, rightKeys, isLeft && dropsLeft(joinType), !isLeft && dropsRight(joinType))
      case join: MatchesRightRows => filtered(join, join.leftKeys, join.rightKeys, dropLeft = false, dropRight = true)
    }

  private def dropsLeft(joinType: JoinType): Boolean = joinType match {
    case _: InnerLike | LeftSemi | RightOuter => true
    case _ => false
  }

  private def dropsRight(joinType: JoinType): Boolean = joinType match {
    case _: InnerLike | LeftSemi | LeftAnti | LeftOuter | _: ExistenceJoin => true
    case _ => false
  }

  private def filtered(
      join: SparkPlan,
      leftKeys: Seq[Expression],
      rightKeys: Seq[Expression],
      dropLeft: Boolean,
      dropRight: Boolean): SparkPlan = {
    val Seq(left, right) = join.children
    val test =
      if (dropLeft) testOf(Side(left, leftKeys), Side(right, rightKeys)).map(test => Seq(above(left, test), right))
      else None
    test.orElse(
      if (dropRight) testOf(Side(right, rightKeys), Side(left, leftKeys)).map(test => Seq(left, above(right, test)))
      else None
    ).fold(join)(join.withNewChildren)
  }

  private case class Side(plan: SparkPlan, keys: Seq[Expression])

  /** Below the sort, which is what has to do less. */
  private def above(side: SparkPlan, test: Expression): SparkPlan = side match {
    case sort: SortExec => sort.copy(child = FilterExec(test, sort.child))
    case rows => FilterExec(test, rows)
  }

  /** What rows of one side have to pass to match any of the other; None if it is not worth while. */
  private def testOf(side: Side, other: Side): Option[Expression] = for {
    many <- stageOf(side.plan)
    few <- stageOf(other.plan)
    rows <- many.getRuntimeStatistics.rowCount
    keys <- few.getRuntimeStatistics.rowCount
    if keys <= JoineryConf.runtimeFilterMaxKeys && keys * Fewer <= rows && isSelective(few, keys)
    if many.getRuntimeStatistics.sizeInBytes >= JoineryConf.runtimeFilterMinSize
    pairs = other.keys.zip(side.keys).flatMap { case (mine, theirs) => hashed(mine, theirs) }
    if pairs.nonEmpty && (side.keys ++ other.keys).forall(_.deterministic)
    hash = HashedKey.hash(pairs.map(_._2))
    if !isTested(many, hash)
  } yield {
    val id = NamedExpression.newExprId
    val source = s"$keys shuffled rows"
    val build = ShuffledKeysExec(HashedKey.hash(pairs.map(_._1)), JoineryConf.runtimeFilterMaxKeys, rowsOf(other.plan))
    val subquery = new KeySubqueryExec(s"subquery#${id.id}", source, build)
    MightContain(hash, BuiltFilter(KeySubquery(subquery, id), source, isSelective = false))
  }

  private def hashed(mine: Expression, theirs: Expression): Option[(Expression, Expression)] =
    if (HashedKey.typeOf(mine.dataType) == HashedKey.typeOf(theirs.dataType))
      HashedKey.of(mine).zip(HashedKey.of(theirs))
    else None

  private def rowsOf(side: SparkPlan): SparkPlan = side match {
    case sort: SortExec => sort.child
    case rows => rows
  }

  private def stageOf(side: SparkPlan): Option[ShuffleQueryStageExec] = rowsOf(side) match {
    case stage: ShuffleQueryStageExec if stage.isMaterialized => Some(stage)
    case AQEShuffleReadExec(stage: ShuffleQueryStageExec, _) if stage.isMaterialized => Some(stage)
    case _ => None
  }

  /** Whether a stage has dropped rows of what it read. */
  private def isSelective(stage: ShuffleQueryStageExec, rows: BigInt): Boolean = {
    val read = rowsRead(stage)
    read.forall(_.isDefined) && BigInt(read.flatten.sum) >= rows * Selective
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
