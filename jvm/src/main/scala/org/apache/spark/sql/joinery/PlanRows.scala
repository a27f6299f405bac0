package org.apache.spark.sql.joinery

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.SparkPlan

/** The rows of a plan that is run beside the query that wants them, as a part of it. */
object PlanRows {

  /** On the driver, with their number. */
  def collect(plan: LogicalPlan, session: SparkSession): (Long, Iterator[InternalRow]) =
    session.sessionState.executePlan(plan).executedPlan.executeCollectIterator()

  def rdd(plan: LogicalPlan, session: SparkSession): RDD[InternalRow] =
    session.sessionState.executePlan(plan).executedPlan.execute()

  /** The number of rows, where they cannot be collected. Adaptive execution plans by it, so that it has to be right. */
  def count(rows: RDD[InternalRow]): Long = rows.mapPartitions(part => Iterator(part.size.toLong)).collect().sum
}

/** An operator that says itself which rows a broadcast collects; when it is executed it may give others. */
trait CollectedBySelf extends SparkPlan {
  protected def collected(): (Long, Iterator[InternalRow])
  override private[spark] def executeCollectIterator(): (Long, Iterator[InternalRow]) = collected()
}
