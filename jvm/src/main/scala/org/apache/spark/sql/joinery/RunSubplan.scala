package org.apache.spark.sql.joinery

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** Runs a plan as a part of the query that needs its rows. */
object RunSubplan {

  /** Collects the rows on the driver and returns them with their number. */
  def collect(plan: LogicalPlan, session: SparkSession): (Long, Iterator[InternalRow]) =
    session.sessionState.executePlan(plan).executedPlan.executeCollectIterator()

  def rdd(plan: LogicalPlan, session: SparkSession): RDD[InternalRow] =
    session.sessionState.executePlan(plan).executedPlan.execute()

  /** Counts rows without collecting them. The number must be exact, since adaptive execution plans with it. */
  def count(rows: RDD[InternalRow]): Long = rows.mapPartitions(part => Iterator(part.size.toLong)).collect().sum
}
