package io.github.sparkjoinery.execution.skew

import org.apache.spark.sql.execution.adaptive.AQEShuffleReadExec
import org.apache.spark.sql.execution.{ShufflePartitionSpec, SparkPlan}

/** What the tasks of a stage read of a shuffle. Adaptive execution may say it anew until the stage runs. */
private[sparkjoinery] object ShuffleReads {

  /**
   * By task. Other extensions may put an operator of their own in the place of Spark's, which reads the same but does
   * not say so: who needs to know remembers what was there before.
   */
  private def of(plan: SparkPlan): Option[Seq[ShufflePartitionSpec]] =
    plan.collectFirst { case read: AQEShuffleReadExec => read.partitionSpecs }

  /** What an operator remembers when it is given another child. */
  def remembered(
      newChild: SparkPlan,
      oldChild: SparkPlan,
      before: Option[Seq[ShufflePartitionSpec]]): Option[Seq[ShufflePartitionSpec]] =
    of(newChild).orElse(of(oldChild)).orElse(before)

  /**
   * What each task of a cut operator reads.
   *
   * @param remembered
   *   what the child, or the one before it, said
   * @param count
   *   of the tasks that there are
   * @param setting
   *   that switches such cuts off, for the message
   * @throws IllegalStateException
   *   if the shuffle is read in other parts than were asked for, so that nobody knows what a task has
   */
  def ofTasks(
      operator: String,
      child: SparkPlan,
      remembered: Option[Seq[ShufflePartitionSpec]],
      count: Int,
      setting: String): Seq[ShufflePartitionSpec] = {
    val asked = of(child).orElse(remembered)
    asked.filter(_.length == count).getOrElse(throw new IllegalStateException(
      s"$operator is cut by time, but ${child.nodeName} below it reads the shuffle in $count parts, not in the " +
        s"${asked.fold(0)(_.length)} that were asked for. Set $setting=false."))
  }
}
