package org.apache.spark.sql.joinery

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.SparkPlan

/** An operator that supplies the rows that a broadcast above it collects. They may differ from those of `doExecute`. */
trait CustomBroadcastRows extends SparkPlan {
  protected def collected(): (Long, Iterator[InternalRow])
  override private[spark] def executeCollectIterator(): (Long, Iterator[InternalRow]) = collected()
}
