package io.github.sparkjoinery.execution.skew

import org.apache.spark.sql.execution.adaptive.AQEShuffleReadExec
import org.apache.spark.sql.execution.{ShufflePartitionSpec, SparkPlan}

/** What the tasks of a stage read of a shuffle. Adaptive execution may say it anew until the stage runs. */
private[sparkjoinery] object ShuffleReads {

  /**
   * By task. Other extensions may put an operator of their own in the place of Spark's, which reads the same but does
   * not say so: who needs to know remembers what was there before.
   */
  def of(plan: SparkPlan): Option[Seq[ShufflePartitionSpec]] =
    plan.collectFirst { case read: AQEShuffleReadExec => read.partitionSpecs }
}
