package io.github.sparkjoinery.planning.explain

import org.apache.spark.sql.execution.SparkPlan

/** An operator of Joinery with its own line in the report of a plan. */
trait ReportedOperator extends SparkPlan {

  /** The kind of the operator in the report: `join` or `window`. */
  def reportedAs: String

  /** The reason in the report if there is no [[Decision]]. */
  def usualReason: String
}
