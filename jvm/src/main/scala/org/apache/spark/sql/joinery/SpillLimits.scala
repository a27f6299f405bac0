package org.apache.spark.sql.joinery

import org.apache.spark.sql.internal.SQLConf

/** How many rows, and how many bytes of them, an operator keeps in memory. */
final case class SpillLimits(rows: Int, bytes: Long) {

  /** The same, and no more bytes than so many. */
  def atMost(limit: Long): SpillLimits = copy(bytes = math.min(bytes, limit))
}

/** As Spark's own operators are told by the session. */
object SpillLimits {
  def ofSortMergeJoin: SpillLimits =
    SpillLimits(math.max(SQLConf.get.sortMergeJoinExecBufferSpillThreshold, 1), SpillBytes.ofSortMergeJoin)

  def ofWindow: SpillLimits = SpillLimits(math.max(SQLConf.get.windowExecBufferSpillThreshold, 1), SpillBytes.ofWindow)
}
