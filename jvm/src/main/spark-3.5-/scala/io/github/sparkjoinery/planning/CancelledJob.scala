package io.github.sparkjoinery.planning

import org.apache.spark.SparkException

object CancelledJob {
  private val Message = "Job \\d+ cancelled .*".r

  /** True for the error of a job that was cancelled. Before Spark 4.0 the error has no class, only its text. */
  def isCause(error: SparkException): Boolean = Option(error.getMessage).exists(Message.pattern.matcher(_).matches())
}
