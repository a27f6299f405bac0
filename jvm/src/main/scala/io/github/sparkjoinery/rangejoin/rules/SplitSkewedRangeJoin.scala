package io.github.sparkjoinery.rangejoin.rules

import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.{AQEShuffleReadExec, ShuffleQueryStageExec, SkewJoinChildWrapper}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.execution.skew.{SkewDetector, SplitSkewed}
import io.github.sparkjoinery.rangejoin.exec.ShuffledRangeJoinExec

/**
 * Splits skewed partitions of a [[ShuffledRangeJoinExec]] among several tasks. Adaptive execution applies this rule
 * once both sides are shuffled. Each task reads some mappers' rows of one side and all rows of the other, as in Spark's
 * own split joins. A side may be split if the join can decide about each of its rows alone. A full outer join splits
 * neither side.
 */
object SplitSkewedRangeJoin extends SplitSkewed {

  override protected def operator: String = "a range join"

  override protected def split: PartialFunction[SparkPlan, SparkPlan] = {
    case join: ShuffledRangeJoinExec if isEnabled && !join.isSkewJoin => splitJoin(join)
  }

  private def isEnabled: Boolean = JoineryConf.rangeJoinSkewSplit && conf.getConf(SQLConf.SKEW_JOIN_ENABLED)

  private def splitJoin(join: ShuffledRangeJoinExec): SparkPlan = (join.left, join.right) match {
    case (left: ShuffleQueryStageExec, right: ShuffleQueryStageExec)
        if SkewDetector.isKnown(left) && SkewDetector.isKnown(right) =>
      val least = JoineryConf.skewSplitMinPartition
      val (leftSkew, rightSkew) = (new SkewDetector(left, least, least), new SkewDetector(right, least, least))
      val specs = for {
        i <- leftSkew.sizes.indices
        ofLeft <- if (mayDivide(join, isLeft = true)) leftSkew.byMapper(i) else Seq(leftSkew.whole(i))
        ofRight <- if (mayDivide(join, isLeft = false)) rightSkew.byMapper(i) else Seq(rightSkew.whole(i))
      } yield (ofLeft, ofRight)
      if (specs.length == leftSkew.sizes.length) join
      else join.copy(
        left = SkewJoinChildWrapper(AQEShuffleReadExec(left, specs.map(_._1))),
        right = SkewJoinChildWrapper(AQEShuffleReadExec(right, specs.map(_._2))),
        isSkewJoin = true
      )
    case _ => join
  }

  /**
   * True if a side may be split: the side whose rows are preserved, or emitted at most once each. An inner join may
   * split both.
   */
  private def mayDivide(join: ShuffledRangeJoinExec, isLeft: Boolean): Boolean = join.joinType match {
    case _: InnerLike => true
    case LeftOuter | LeftSemi | LeftAnti | _: ExistenceJoin => isLeft
    case RightOuter => !isLeft
    case _ => false
  }
}
