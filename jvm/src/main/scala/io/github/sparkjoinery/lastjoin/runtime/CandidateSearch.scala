package io.github.sparkjoinery.lastjoin.runtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric

import io.github.sparkjoinery.execution.rows.GroupedRowsReader
import io.github.sparkjoinery.lastjoin.logical.LastJoinTerms

/** Tests candidates in [[GroupedRows]] if no code is generated. */
private[lastjoin] class CandidateSearch(
    reader: GroupedRowsReader,
    terms: LastJoinTerms,
    left: Seq[Attribute],
    right: Seq[Attribute],
    tried: SQLMetric) {

  private val check = new CandidateCheck(terms, left, right, tried)

  /** Returns the last candidate from `first` to `last` that passes, or null. */
  def lastPassing(leftRow: InternalRow, first: Int, last: Int): InternalRow = {
    var place = last
    check.stop = false
    while (place >= first && !check.stop) {
      val candidate = reader.row(place)
      if (check.passes(leftRow, candidate)) return candidate
      place -= 1
    }
    null
  }
}
