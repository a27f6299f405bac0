package io.github.sparkjoinery.lastjoin.runtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric

import io.github.sparkjoinery.execution.rows.{GroupedRows, GroupedRowsReader}
import io.github.sparkjoinery.lastjoin.logical.LastJoinTerms

/**
 * Finds the match of a left row in [[GroupedRows]] if no code is generated. `GroupedRowsCodegen` generates the same
 * steps.
 */
private[lastjoin] class GroupedRowsSearch(
    relation: GroupedRows,
    terms: LastJoinTerms,
    left: Seq[Attribute],
    right: Seq[Attribute],
    tried: SQLMetric) {

  private val reader: GroupedRowsReader = relation.reader(terms.timeOrder(right).orNull)
  private val candidates = new CandidateSearch(reader, terms, left, right, tried)
  private val longKey = terms.leftLongKey.map(e => UnsafeProjection.create(Seq(e), left))
  private val rowKey = UnsafeProjection.create(terms.leftKeys, left)
  private val longTime = terms.leftLongTime.map(e => UnsafeProjection.create(Seq(e), left))
  private val rowTime = UnsafeProjection.create(terms.asOf.toSeq, left)

  /** Returns the match of a left row, or null. */
  def lastMatch(leftRow: InternalRow): InternalRow = {
    val group = groupOf(leftRow)
    if (group < 0) null else candidates.lastPassing(leftRow, reader.first(group), lastCandidate(leftRow, group))
  }

  private def groupOf(leftRow: InternalRow): Int = longKey match {
    case Some(longKey) =>
      val key = longKey(leftRow)
      if (key.isNullAt(0)) -1 else reader.group(key.getLong(0))
    case None =>
      val key = rowKey(leftRow)
      if (key.anyNull) -1 else reader.group(key)
  }

  private def lastCandidate(leftRow: InternalRow, group: Int): Int =
    longTime match {
      case _ if terms.asOf.isEmpty => reader.last(group)
      case Some(longTime) =>
        val time = longTime(leftRow)
        if (time.isNullAt(0)) -1 else reader.lastUpTo(group, time.getLong(0))
      case None =>
        try {
          val time = rowTime(leftRow)
          if (time.isNullAt(0)) -1 else reader.lastUpTo(group, time)
        } catch { case _: Exception => reader.last(group) }
    }
}
