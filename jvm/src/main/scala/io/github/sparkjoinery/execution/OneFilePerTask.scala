package io.github.sparkjoinery.execution

import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.exchange.{ENSURE_REQUIREMENTS, ShuffleExchangeExec, ValidateRequirements}
import org.apache.spark.sql.execution.{ColumnarRule, FilterExec, SparkPlan}
import org.apache.spark.sql.joinery.ShuffleFiles

import io.github.sparkjoinery.expressions.MightContain
import io.github.sparkjoinery.planning.ReportedOperator

/**
 * Has each task write its shuffled rows into one file, in plans with an operator or a filter of Joinery. Up to
 * `spark.shuffle.sort.bypassMergeThreshold` partitions (200, which is also how many Spark makes by default) each task
 * opens a file for every partition; of rows that a filter has made few, that takes longer than all the rest. With one
 * partition more it sorts rows by partition in memory (docs/decisions/0021-one-partition-more.md).
 */
object OneFilePerTask extends Rule[SparkPlan] with AdaptiveSparkPlanHelper {

  override def apply(plan: SparkPlan): SparkPlan = ShuffleFiles.mostOpened match {
    case Some(most) if isOurs(plan) =>
      val changed = plan.transformUp {
        case exchange: ShuffleExchangeExec if exchange.shuffleOrigin == ENSURE_REQUIREMENTS =>
          exchange.outputPartitioning match {
            case hash: HashPartitioning if isJustBelow(hash.numPartitions, most + 1) =>
              exchange.copy(outputPartitioning = hash.copy(numPartitions = most + 1))
            case _ => exchange
          }
      }
      // What is partitioned without a shuffle, by buckets for example, keeps its number, and so does what it meets.
      if (changed.fastEquals(plan) || !ValidateRequirements.validate(changed)) plan else changed
    case _ => plan
  }

  private def isOurs(plan: SparkPlan): Boolean = find(plan) {
    case _: ReportedOperator => true
    case FilterExec(condition, _) => condition.exists(_.isInstanceOf[MightContain])
    case _ => false
  }.isDefined

  // A twentieth more at most: how many partitions there are is the user's choice.
  private def isJustBelow(partitions: Int, enough: Int): Boolean =
    partitions < enough && enough - partitions <= math.max(1, partitions / 20)

  /** The only hook for plans that are not adaptive. */
  object WithoutAdaptiveExecution extends ColumnarRule {
    override def preColumnarTransitions: Rule[SparkPlan] = OneFilePerTask
  }
}
