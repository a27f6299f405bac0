package io.github.sparkjoinery.planning.explain

/** An operator of Joinery with its own line in the report of a plan. */
trait ReportedOperator extends JoineryOperator {

  /** The kind of the operator in the report: `join` or `window`. */
  def reportedAs: String

  /** The reason in the report if there is no [[Decision]]. */
  def usualReason: String
}
