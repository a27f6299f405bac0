package io.github.sparkjoinery.lastjoin.runtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric

import io.github.sparkjoinery.lastjoin.logical.LastJoinTerms

/** Tests if a candidate is the match, and if earlier candidates can be. */
private[lastjoin] class CandidateCheck(
    terms: LastJoinTerms,
    left: Seq[Attribute],
    right: Seq[Attribute],
    tried: SQLMetric) {
  private val within = terms.within.map(e => UnsafeProjection.create(Seq(e), left ++ right))
  private val residual = terms.residual.map(Predicate.create(_, left ++ right))
  private val joined = new JoinedRow

  /** Set by `passes` to true if no candidate before this one can pass. */
  var stop = false

  def passes(leftRow: InternalRow, candidate: InternalRow): Boolean = {
    tried += 1
    joined(leftRow, candidate)
    stop = false
    val near = within.map(_(joined))
    stop = near.exists(answer => !answer.isNullAt(0) && !answer.getBoolean(0))
    near.forall(answer => !answer.isNullAt(0) && answer.getBoolean(0)) && residual.forall(_.eval(joined))
  }
}
