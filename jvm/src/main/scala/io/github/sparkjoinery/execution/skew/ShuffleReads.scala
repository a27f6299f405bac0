package io.github.sparkjoinery.execution.skew

import org.apache.spark.sql.execution.adaptive.AQEShuffleReadExec
import org.apache.spark.sql.execution.{ShufflePartitionSpec, SparkPlan}

/** Finds which partitions of a shuffle each task reads. Adaptive execution may change them until the stage runs. */
private[sparkjoinery] object ShuffleReads {

  /**
   * Returns the partition specs by task, if the plan has Spark's shuffle read. Other extensions may replace that
   * operator by one that reads the same but does not tell its specs; see `remembered`.
   */
  private def specsOf(plan: SparkPlan): Option[Seq[ShufflePartitionSpec]] =
    plan.collectFirst { case read: AQEShuffleReadExec => read.partitionSpecs }

  /**
   * Returns the specs that an operator keeps when its child is replaced: those of the new child, else of the old one,
   * else the ones kept before.
   */
  def remembered(
      newChild: SparkPlan,
      oldChild: SparkPlan,
      before: Option[Seq[ShufflePartitionSpec]]): Option[Seq[ShufflePartitionSpec]] =
    specsOf(newChild).orElse(specsOf(oldChild)).orElse(before)

  /**
   * Returns the partition spec of each task of an operator that is cut by time.
   *
   * @param remembered
   *   the specs that the operator kept of earlier children
   * @param count
   *   number of tasks
   * @param setting
   *   the setting that disables such cuts, for the error message
   * @throws IllegalStateException
   *   if no specs for this number of tasks are known
   */
  def ofTasks(
      operator: String,
      child: SparkPlan,
      remembered: Option[Seq[ShufflePartitionSpec]],
      count: Int,
      setting: String): Seq[ShufflePartitionSpec] = {
    val asked = specsOf(child).orElse(remembered)
    asked.filter(_.length == count).getOrElse(throw new IllegalStateException(
      s"$operator is cut by time, but ${child.nodeName} below it reads the shuffle in $count parts, not in the " +
        s"${asked.fold(0)(_.length)} that were asked for. Set $setting=false."))
  }
}
