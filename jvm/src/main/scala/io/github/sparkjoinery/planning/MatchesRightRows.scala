package io.github.sparkjoinery.planning

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.BinaryExecNode

/** A join that shuffles both sides and keeps each left row, so that right rows whose keys match none have no effect. */
trait MatchesRightRows extends BinaryExecNode {

  /** Equal to those of the right on each match. */
  def leftKeys: Seq[Expression]
  def rightKeys: Seq[Expression]
}
