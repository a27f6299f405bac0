package io.github.sparkjoinery.planning

import org.apache.spark.SparkException

object CancelledJob {

  /** True for the error of a job that was cancelled. */
  def isCause(error: SparkException): Boolean = error.getCondition == "SPARK_JOB_CANCELLED"
}
