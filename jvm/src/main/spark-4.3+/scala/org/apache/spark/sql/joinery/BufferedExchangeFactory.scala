package org.apache.spark.sql.joinery

import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.{ShuffleExchangeExec, ShuffleOrigin}

private class BufferedExchangeExec(
    partitioning: Partitioning,
    input: SparkPlan,
    origin: ShuffleOrigin,
    partitionSize: Option[Long],
    isPipelined: Boolean)
  extends ShuffleExchangeExec(partitioning, input, origin, partitionSize, isPipelined) with BufferedExchange {

  override protected def withNewChildInternal(newChild: SparkPlan): ShuffleExchangeExec =
    new BufferedExchangeExec(outputPartitioning, newChild, shuffleOrigin, advisoryPartitionSize, pipelined)
}

private[joinery] object BufferedExchangeFactory {

  /** Makes an exchange with buffers. The rows of a pipelined one are read before all are written, so it stays. */
  def apply(shuffle: ShuffleExchangeExec): ShuffleExchangeExec =
    if (shuffle.pipelined) shuffle
    else
      new BufferedExchangeExec(
        shuffle.outputPartitioning,
        shuffle.child,
        shuffle.shuffleOrigin,
        shuffle.advisoryPartitionSize,
        shuffle.pipelined)
}
