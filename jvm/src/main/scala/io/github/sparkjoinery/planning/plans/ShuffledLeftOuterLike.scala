package io.github.sparkjoinery.planning.plans

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.BinaryExecNode

/**
 * A join that shuffles both sides and preserves the left one. Right rows whose keys match no left row have no effect.
 */
trait ShuffledLeftOuterLike extends BinaryExecNode {

  /** Equal to the right keys, pair by pair, on each match. */
  def leftKeys: Seq[Expression]
  def rightKeys: Seq[Expression]
}
