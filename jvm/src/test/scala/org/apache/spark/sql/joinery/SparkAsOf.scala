package org.apache.spark.sql.joinery

import org.apache.spark.sql.{Column, DataFrame}

/** Spark's as-of join of DataFrames, which is private to its package: Python's `_joinAsOf` and `merge_asof` call it. */
object SparkAsOf {
  def join(
      left: DataFrame,
      right: DataFrame,
      leftAsOf: Column,
      rightAsOf: Column,
      on: Seq[String],
      how: String = "inner",
      tolerance: Column = null,
      allowExactMatches: Boolean = true,
      direction: String = "backward"): DataFrame = {
    val other = right.asInstanceOf[org.apache.spark.sql.joinery.DataFrame]
    left.asInstanceOf[org.apache.spark.sql.joinery.DataFrame].joinAsOf(
      other,
      leftAsOf,
      rightAsOf,
      on,
      how,
      tolerance,
      allowExactMatches,
      direction)
  }
}
