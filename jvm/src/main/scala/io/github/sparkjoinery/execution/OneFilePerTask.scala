package io.github.sparkjoinery.execution

import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.exchange.{
  ENSURE_REQUIREMENTS,
  Exchange,
  ShuffleExchangeExec,
  ValidateRequirements
}
import org.apache.spark.sql.execution.{FilterExec, SparkPlan}
import org.apache.spark.sql.joinery.ShuffleFiles

import io.github.sparkjoinery.expressions.MightContain
import io.github.sparkjoinery.planning.explain.ReportedOperator

/**
 * Makes each task write its shuffled rows into one file, in adaptive plans with an operator or filter of Joinery that
 * shuffle few rows. Up to `spark.shuffle.sort.bypassMergeThreshold` partitions, a task opens a file for every
 * partition. The threshold is 200, which is also Spark's default number of partitions. If a filter leaves few rows,
 * opening the files takes longer than all the rest. A task sorts its rows by partition in memory if there is one more
 * partition (docs/decisions/0021-one-partition-more.md).
 */
object OneFilePerTask extends Rule[SparkPlan] with AdaptiveSparkPlanHelper {

  // Tasks of many rows are faster with a file for each partition than with a sort.
  private val FewBytes = 64L << 20

  override def apply(plan: SparkPlan): SparkPlan = plan match {
    // The root of a stage of adaptive execution. The plan that reads its shuffled rows is not visible here, and has
    // been planned.
    case _: Exchange => plan
    case _ => if (isOurs(plan)) changed(plan) else plan
  }

  private def changed(plan: SparkPlan): SparkPlan = ShuffleFiles.mostOpened match {
    case Some(most)
        if plan.collect { case node if needed(node, most).isDefined => node }.forall(hasFewRows) =>
      val more = plan.transformUp {
        case exchange: ShuffleExchangeExec =>
          needed(exchange, most).fold(exchange)(enough => exchange.copy(outputPartitioning = enough))
      }
      // A child that is partitioned without a shuffle, by buckets for example, keeps its number of partitions. The
      // other side of its join has to keep the same number.
      if (more.fastEquals(plan) || !ValidateRequirements.validate(more)) plan else more
    case _ => plan
  }

  private def isOurs(plan: SparkPlan): Boolean = find(plan) {
    case _: ReportedOperator | _: FewRows => true
    case FilterExec(condition, _) => condition.exists(_.isInstanceOf[MightContain])
    case _ => false
  }.isDefined

  /**
   * The partitioning with enough partitions, if the shuffle has almost as many. Any other number of partitions is the
   * user's choice.
   */
  private def needed(plan: SparkPlan, most: Int): Option[HashPartitioning] = plan match {
    case exchange: ShuffleExchangeExec if exchange.shuffleOrigin == ENSURE_REQUIREMENTS =>
      exchange.outputPartitioning match {
        case hash @ HashPartitioning(_, partitions)
            if partitions <= most && most + 1 - partitions <= math.max(1, partitions / 20) =>
          Some(hash.copy(numPartitions = most + 1))
        case _ => None
      }
    case _ => None
  }

  private def hasFewRows(exchange: SparkPlan): Boolean = exchange.exists {
    case FilterExec(condition, _) => condition.exists {
        case test: MightContain => test.isSelective
        case _ => false
      }
    case _: FewRows => true
    case _ => false
  } || exchange.find(_.logicalLink.isDefined).flatMap(_.logicalLink).exists(_.stats.sizeInBytes <= FewBytes)
}
