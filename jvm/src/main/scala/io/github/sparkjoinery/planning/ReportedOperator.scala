package io.github.sparkjoinery.planning

import org.apache.spark.sql.execution.SparkPlan

/** An operator of Joinery that has a line of its own in the report of a plan. */
trait ReportedOperator extends SparkPlan {

  /** What it stands for in the query: `join` or `window`. */
  def reportedAs: String

  /** Why it was chosen, where no [[Decision]] says so. */
  def usualReason: String
}
