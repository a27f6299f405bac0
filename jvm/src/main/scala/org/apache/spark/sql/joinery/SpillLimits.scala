package org.apache.spark.sql.joinery

import org.apache.spark.sql.internal.SQLConf

/** The most rows, and the most bytes of rows, that an operator keeps in memory. */
final case class SpillLimits(rows: Int, bytes: Long) {

  /** Lowers the limit of bytes. */
  def atMost(limit: Long): SpillLimits = copy(bytes = math.min(bytes, limit))
}

/** The limits that the session sets for Spark's own operators. */
object SpillLimits {
  def ofSortMergeJoin: SpillLimits =
    SpillLimits(math.max(SQLConf.get.sortMergeJoinExecBufferSpillThreshold, 1), SpillBytes.ofSortMergeJoin)

  def ofWindow: SpillLimits = SpillLimits(math.max(SQLConf.get.windowExecBufferSpillThreshold, 1), SpillBytes.ofWindow)
}
