package io.github.sparkjoinery.execution.skew

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.SkewJoinChildWrapper
import org.apache.spark.sql.execution.exchange.ValidateRequirements

/**
 * A rule of adaptive execution that has several tasks read a skewed partition. A plan whose other operators rely on how
 * the output is partitioned stays as it is.
 */
private[sparkjoinery] trait SplitSkewed extends Rule[SparkPlan] with Logging {

  /** What is split, for the log. */
  protected def operator: String

  /**
   * Puts in the place of an operator the same one of children that are read in parts, each below a wrapper. Which
   * settings allow that is up to the operator.
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
