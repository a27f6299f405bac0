package io.github.sparkjoinery.execution

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.{Exchange, ShuffleExchangeExec}
import org.apache.spark.sql.joinery.{BufferedExchange, JoineryConf}

/**
 * Lets the rows of Spark's shuffles pass through a buffer (docs/decisions/0032-rows-of-a-shuffle-share-a-buffer.md).
 */
object BufferShuffles extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = plan match {
    // The root of a stage of adaptive execution.
    case _: Exchange => plan
    case _ if JoineryConf.bufferedShuffle && ShuffledPlans.areChanged(plan) =>
      plan.transformUp { case shuffle: ShuffleExchangeExec => BufferedExchange(shuffle) }
    case _ => plan
  }
}
