package org.apache.spark.sql

package object joinery {

  /** Spark's session and its data frames. From Spark 4.0 on, these are the classic ones, not a Connect client's. */
  type SparkSession = classic.SparkSession
  val SparkSession: classic.SparkSession.type = classic.SparkSession
  type DataFrame = classic.DataFrame
}
