package org.apache.spark.sql.joinery

import org.apache.spark.sql.internal.SQLConf

/**
 * The largest table that Spark broadcasts, in bytes. Before Spark 4.1 it is a constant, from 4.1 on
 * `spark.sql.maxBroadcastTableSize`.
 */
private[joinery] object BroadcastLimit {
  def bytes: Long = SQLConf.get.maxBroadcastTableSizeInBytes
}
