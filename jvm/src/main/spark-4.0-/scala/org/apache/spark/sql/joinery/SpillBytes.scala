package org.apache.spark.sql.joinery

/** The most bytes of rows that an operator of Spark keeps in memory. Before Spark 4.1 there is no such limit. */
private[joinery] object SpillBytes {
  def ofSortMergeJoin: Long = Long.MaxValue
  def ofWindow: Long = Long.MaxValue
}
