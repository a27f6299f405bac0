package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.SparkContext
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.execution.skew.{SkewDetector, SplitSkewed}
import io.github.sparkjoinery.lastjoin.exec.{ShuffledLastJoinExec, TimeSliceExec, TimeSlices}
import io.github.sparkjoinery.lastjoin.logical.LastJoin
import io.github.sparkjoinery.lastjoin.stored.StoredTimes

/**
 * Lets several tasks read a skewed partition of a LAST JOIN. It runs under adaptive execution, when both sides are
 * shuffled and the sizes of their partitions are known.
 *   - Joins with an as-of comparison and no residual condition are split by time ([[TimeSliceExec]]). This divides a
 *     hot key on either side.
 *   - Other joins are split like Spark's skewed joins: the left partition is divided, and each part reads the whole
 *     right partition.
 *
 * A partition is skewed by Spark's definition (`spark.sql.adaptive.skewJoin.*`), but from a smaller size on, because a
 * row of a LAST JOIN costs more.
 */
object SplitSkewedLastJoin extends SplitSkewed {

  override protected def operator: String = "a LAST JOIN"

  override protected def split: PartialFunction[SparkPlan, SparkPlan] = {
    case join: ShuffledLastJoinExec if isEnabled && !join.isSplit => splitJoin(join)
  }

  private def isEnabled: Boolean = JoineryConf.skewSplit && conf.getConf(SQLConf.SKEW_JOIN_ENABLED)

  private def splitJoin(join: ShuffledLastJoinExec): SparkPlan =
    (shuffleBelow(join.left), shuffleBelow(join.right)) match {
      case (Some(left), Some(right)) =>
        val (leftSkew, rightSkew) =
          (
            new SkewDetector(left, JoineryConf.skewSplitMinPartition),
            new SkewDetector(right, JoineryConf.skewSplitMinPartition))
        val times = for (l <- join.terms.leftLongTime; r <- join.terms.rightLongTime if join.terms.onePass)
          yield (l, r)
        times match {
          case Some((leftTime, rightTime)) if leftSkew.any || rightSkew.any =>
            val leftIsLarger = left.mapStats.get.bytesByPartitionId.sum >= right.mapStats.get.bytesByPartitionId.sum
            val stored = storedTimes(join, left, right, leftTime, rightTime, leftIsLarger)
            val slices =
              if (leftIsLarger) new TimeSlices(left, leftTime, stored) else new TimeSlices(right, rightTime, stored)
            val specs = leftSkew.sizes.indices.flatMap { i =>
              val parts = math.min(math.max(leftSkew.parts(i), rightSkew.parts(i)), maxParts)
              Seq.fill(parts)((leftSkew.whole(i), rightSkew.whole(i)))
            }
            withSplit(
              join,
              TimeSliceExec(leftTime, slices, None, AQEShuffleReadExec(left, specs.map(_._1))),
              TimeSliceExec(
                rightTime,
                slices,
                Some(join.terms.grouping(right.output)),
                AQEShuffleReadExec(right, specs.map(_._2)))
            )
          case None if leftSkew.any =>
            val specs = leftSkew.sizes.indices.flatMap(i => leftSkew.byMapper(i).map((_, rightSkew.whole(i))))
            if (specs.length == leftSkew.sizes.length) join
            else withSplit(join, AQEShuffleReadExec(left, specs.map(_._1)), AQEShuffleReadExec(right, specs.map(_._2)))
          case _ => join
        }
      case _ => join
    }

  /** The stored times of the larger side, or else of the other side. */
  private def storedTimes(
      join: ShuffledLastJoinExec,
      left: ShuffleQueryStageExec,
      right: ShuffleQueryStageExec,
      leftTime: Expression,
      rightTime: Expression,
      leftIsLarger: Boolean): Option[StoredTimes] = if (JoineryConf.store.isEmpty) None
  else {
    val logical = join.logicalLink.collect { case logical: LastJoin => logical }
    def ofLeft = StoredTimes.find(left, logical.map(_.left), join.terms.leftKeys, leftTime)
    def ofRight = StoredTimes.find(right, logical.map(_.right), join.terms.rightKeys, rightTime)
    if (leftIsLarger) ofLeft.orElse(ofRight) else ofRight.orElse(ofLeft)
  }

  /** Each part reads its whole partition, so more parts than cores only add reading. */
  private def maxParts: Int = math.max(2, math.min(SparkContext.getOrCreate().defaultParallelism, 32))

  private def withSplit(join: ShuffledLastJoinExec, left: SparkPlan, right: SparkPlan): SparkPlan = {
    def replace(side: SparkPlan, read: SparkPlan): SparkPlan = side match {
      case sort: SortExec => sort.copy(child = SkewJoinChildWrapper(read))
      case _ => SkewJoinChildWrapper(read)
    }
    join.withSplit(replace(join.left, left), replace(join.right, right))
  }

  private def shuffleBelow(plan: SparkPlan): Option[ShuffleQueryStageExec] = plan match {
    case SortExec(_, false, child, _) => shuffleBelow(child)
    case stage: ShuffleQueryStageExec if SkewDetector.isKnown(stage) => Some(stage)
    case _ => None
  }
}
