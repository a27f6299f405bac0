package io.github.sparkjoinery.rangejoin.exec

import org.apache.spark.sql.execution.joinery.BroadcastRelation
import org.apache.spark.sql.joinery.JoineryConf

/**
 * Stands for an index that is too large to broadcast.
 *
 * @param limit
 *   the largest number of bytes that the index was allowed to take
 */
final class IndexTooLarge(val limit: Long) extends BroadcastRelation with Serializable {

  // Spark takes this for the size of the side, and must not find the side small. From its own limit on, Spark would
  // fail the query.
  override val estimatedSize: Long = JoineryConf.mostBroadcast - 1
}
