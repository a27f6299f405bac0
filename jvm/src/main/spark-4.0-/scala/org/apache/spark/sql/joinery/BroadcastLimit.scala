package org.apache.spark.sql.joinery

import org.apache.spark.sql.execution.exchange.BroadcastExchangeExec

/**
 * The largest table that Spark broadcasts, in bytes: `spark.sql.maxBroadcastTableSize` from 4.1 on, a constant before.
 */
private[joinery] object BroadcastLimit {
  def bytes: Long = BroadcastExchangeExec.MAX_BROADCAST_TABLE_BYTES
}
