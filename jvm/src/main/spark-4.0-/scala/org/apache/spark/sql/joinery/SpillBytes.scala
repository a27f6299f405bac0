package org.apache.spark.sql.joinery

/** The most bytes of rows that an operator of Spark keeps in memory: without a limit before Spark 4.1. */
private[joinery] object SpillBytes {
  def ofSortMergeJoin: Long = Long.MaxValue
  def ofWindow: Long = Long.MaxValue
}
