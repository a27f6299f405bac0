package org.apache.spark.sql.joinery

import org.apache.spark.sql.internal.SQLConf

/** The most bytes of rows that an operator of Spark keeps in memory. Spark has these settings from 4.1 on. */
private[joinery] object SpillBytes {
  def ofSortMergeJoin: Long = SQLConf.get.sortMergeJoinExecBufferSpillSizeThreshold
  def ofWindow: Long = SQLConf.get.windowExecBufferSpillSizeThreshold
}
