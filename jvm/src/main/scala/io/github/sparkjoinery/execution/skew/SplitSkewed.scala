package io.github.sparkjoinery.execution.skew

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.SkewJoinChildWrapper
import org.apache.spark.sql.execution.exchange.ValidateRequirements

/**
 * Lets several tasks read a skewed partition, as a rule of adaptive execution. It leaves a plan unchanged if an
 * operator above relies on the output partitioning.
 */
private[sparkjoinery] trait SplitSkewed extends Rule[SparkPlan] with Logging {

  /** The operator's name, for the log. */
  protected def operator: String

  /**
   * Replaces an operator by a copy whose children read skewed partitions in parts. Each new child is below a
   * `SkewJoinChildWrapper`.
   */
  protected def split: PartialFunction[SparkPlan, SparkPlan]

  override def apply(plan: SparkPlan): SparkPlan = {
    val changed = plan.transformUp(split)
    if (changed.fastEquals(plan)) plan
    else if (ValidateRequirements.validate(changed)) changed.transform { case SkewJoinChildWrapper(child) => child }
    else {
      logInfo(s"$operator with skewed partitions is not split: an operator above relies on its partitioning")
      plan
    }
  }
}
