package io.github.sparkjoinery.execution

import org.apache.spark.sql.catalyst.plans.physical.{HashPartitioning, Partitioning, RangePartitioning}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanHelper, ShuffleQueryStageExec}
import org.apache.spark.sql.execution.exchange.{
  ENSURE_REQUIREMENTS,
  Exchange,
  ShuffleExchangeExec,
  ShuffleExchangeLike,
  ValidateRequirements
}
import org.apache.spark.sql.execution.joins.{BroadcastNestedLoopJoinExec, CartesianProductExec}
import org.apache.spark.sql.execution.{ExpandExec, GenerateExec, SparkPlan}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.joinery.JoineryConf

/**
 * Gives Spark's shuffles as many partitions as their bytes need (docs/decisions/0030-as-many-partitions-as-bytes.md).
 * Each pair of a task and a partition costs a piece of a file, which takes longer than the rows of a small shuffle.
 * Adaptive execution merges partitions only when it reads them.
 *
 * The rule changes adaptive plans with an operator or filter of Joinery, if the user has not chosen a number. All
 * shuffles that Spark has added get the same width, or all keep theirs. Later plans of a query keep the width of its
 * finished shuffles.
 */
object ShuffleWidth extends Rule[SparkPlan] with AdaptiveSparkPlanHelper {

  private val BytesOfPartition = 16L << 20
  private val PartitionsOfCore = 4
  private val Default = SQLConf.SHUFFLE_PARTITIONS.defaultValue.get

  /**
   * Widths divide the default. Rules that cut a join into as many parts as there are partitions number the parts below
   * the default, and each partition then gets equally many.
   */
  private val Widths = (1 to Default).filter(Default % _ == 0)

  override def apply(plan: SparkPlan): SparkPlan = plan match {
    // The root of a stage of adaptive execution. The plan that reads its shuffled rows has been planned already.
    case _: Exchange => plan
    case _ if isChosenByUser => plan
    case _ => widthOf(plan).filter(_ != Default).fold(plan)(changed(plan, _))
  }

  private def isChosenByUser: Boolean =
    conf.contains(SQLConf.SHUFFLE_PARTITIONS.key) || conf.getConf(SQLConf.COALESCE_PARTITIONS_INITIAL_PARTITION_NUM)
      .isDefined

  private def widthOf(plan: SparkPlan): Option[Int] = JoineryConf.shuffleWidth match {
    case "off" => None
    case _ => finishedWidth(plan).orElse(if (ShuffledPlans.areChanged(plan)) neededWidth(plan) else None)
  }

  /** The width of the plan's shuffles that have run, or are running. */
  private def finishedWidth(plan: SparkPlan): Option[Int] = collectFirst(plan) {
    case stage: ShuffleQueryStageExec if isSparks(stage.shuffle) => partitionsOf(stage.shuffle)
  }

  /** The width for the largest shuffle, by the bytes of the tables that it reads; None if they are no measure. */
  private def neededWidth(plan: SparkPlan): Option[Int] = {
    val shuffles = plan.collect { case shuffle: ShuffleExchangeExec if isWidened(shuffle) => shuffle }
    if (shuffles.isEmpty || shuffles.exists(_.exists(multiplies))) None
    else {
      val partitions = shuffles.map(bytesOf).max / BytesOfPartition + 1
      val leastBusy = BigInt(plan.session.sparkContext.defaultParallelism) * PartitionsOfCore
      Widths.find(BigInt(_) >= partitions.max(leastBusy))
    }
  }

  private def multiplies(node: SparkPlan): Boolean = node match {
    case _: MultipliesRows | _: GenerateExec | _: ExpandExec => true
    case _: BroadcastNestedLoopJoinExec | _: CartesianProductExec => true
    case _ => false
  }

  private def bytesOf(shuffle: SparkPlan): BigInt =
    shuffle.collectLeaves().map(_.logicalLink.fold(BigInt(Long.MaxValue))(_.stats.sizeInBytes)).sum

  private def changed(plan: SparkPlan, width: Int): SparkPlan = {
    val changed = plan.transformUp {
      case shuffle: ShuffleExchangeExec if isWidened(shuffle) =>
        shuffle.copy(outputPartitioning = withWidth(shuffle.outputPartitioning, width))
    }
    // A side that is partitioned without a shuffle, by buckets for example, keeps its number of partitions. The other
    // side of its join has to keep the same number.
    if (ValidateRequirements.validate(changed)) changed else plan
  }

  private def isWidened(shuffle: ShuffleExchangeExec): Boolean = isSparks(shuffle) && partitionsOf(shuffle) == Default

  /** The planned number. The method `numPartitions` of an exchange samples its rows if it partitions by ranges. */
  private def partitionsOf(shuffle: ShuffleExchangeLike): Int = shuffle.outputPartitioning.numPartitions

  private def isSparks(shuffle: ShuffleExchangeLike): Boolean =
    shuffle.shuffleOrigin == ENSURE_REQUIREMENTS && (shuffle.outputPartitioning match {
      case _: HashPartitioning | _: RangePartitioning => true
      case _ => false
    })

  private def withWidth(partitioning: Partitioning, width: Int): Partitioning = partitioning match {
    case hash: HashPartitioning => hash.copy(numPartitions = width)
    case range: RangePartitioning => range.copy(numPartitions = width)
    case other => other
  }
}
