package org.apache.spark.sql.joinery

import org.apache.spark.ShuffleDependency
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.metric.SQLMetrics
import org.apache.spark.unsafe.Platform

/** An exchange of Spark whose rows are written and read by a [[BufferedRowSerializer]]. */
trait BufferedExchange extends ShuffleExchangeExec {

  /** Makes the dependency as Spark's exchange does, but for the serializer. */
  protected def newDependency(): ShuffleDependency[Int, InternalRow, InternalRow] = {
    val dependency = ShuffleExchangeExec.prepareShuffleDependency(
      inputRDD,
      child.output,
      outputPartitioning,
      new BufferedRowSerializer(child.output.length, longMetric("dataSize")),
      metrics)
    val partitions = metrics("numPartitions")
    partitions.set(dependency.partitioner.numPartitions)
    val query = sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
    SQLMetrics.postDriverMetricUpdates(sparkContext, query, Seq(partitions))
    dependency
  }

  // A rule's result is dropped if it equals the node that the rule was given.
  override def canEqual(that: Any): Boolean = that.isInstanceOf[BufferedExchange]
  override def equals(that: Any): Boolean = canEqual(that) && super.equals(that)
  override def hashCode(): Int = super.hashCode()
}

object BufferedExchange {

  /** Replaces an exchange, unless the processor cannot read a long at any address. */
  def apply(shuffle: ShuffleExchangeExec): ShuffleExchangeExec = shuffle match {
    case buffered: BufferedExchange => buffered
    case other if Platform.unaligned() => BufferedExchangeFactory(other)
    case other => other
  }
}
