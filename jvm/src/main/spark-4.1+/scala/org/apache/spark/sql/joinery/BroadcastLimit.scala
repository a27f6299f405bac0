package org.apache.spark.sql.joinery

import org.apache.spark.sql.internal.SQLConf

/**
 * The largest table that Spark broadcasts, in bytes: `spark.sql.maxBroadcastTableSize` from 4.1 on, a constant before.
 */
private[joinery] object BroadcastLimit {
  def bytes: Long = SQLConf.get.maxBroadcastTableSizeInBytes
}
