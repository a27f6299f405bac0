package org.apache.spark.sql

package object joinery {

  /** Spark's session and its data frames; from Spark 4.0 on, those that are no Connect client's. */
  type SparkSession = classic.SparkSession
  val SparkSession: classic.SparkSession.type = classic.SparkSession
  type DataFrame = classic.DataFrame
}
