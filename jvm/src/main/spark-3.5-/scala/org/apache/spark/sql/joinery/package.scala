package org.apache.spark.sql

package object joinery {

  /** Spark's session and its data frames. */
  type SparkSession = org.apache.spark.sql.SparkSession
  val SparkSession: org.apache.spark.sql.SparkSession.type = org.apache.spark.sql.SparkSession
  type DataFrame = org.apache.spark.sql.DataFrame
}
