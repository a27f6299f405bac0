package org.apache.spark.sql.joinery

import org.apache.spark.ShuffleDependency
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.{ShuffleExchangeExec, ShuffleOrigin}

private class BufferedExchangeExec(
    partitioning: Partitioning,
    input: SparkPlan,
    origin: ShuffleOrigin,
    partitionSize: Option[Long])
  extends ShuffleExchangeExec(partitioning, input, origin, partitionSize) with BufferedExchange {

  @transient override lazy val shuffleDependency: ShuffleDependency[Int, InternalRow, InternalRow] = newDependency()

  override protected def withNewChildInternal(newChild: SparkPlan): ShuffleExchangeExec =
    new BufferedExchangeExec(outputPartitioning, newChild, shuffleOrigin, advisoryPartitionSize)
}

private[joinery] object BufferedExchangeFactory {

  /** Makes an exchange with buffers. */
  def apply(shuffle: ShuffleExchangeExec): ShuffleExchangeExec =
    new BufferedExchangeExec(
      shuffle.outputPartitioning,
      shuffle.child,
      shuffle.shuffleOrigin,
      shuffle.advisoryPartitionSize)
}
