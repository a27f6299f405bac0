package io.github.sparkjoinery.lastjoin.runtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import io.github.sparkjoinery.lastjoin.logical.LastJoinTerms

/** Compares the time of one left row with those of right rows. */
private[lastjoin] class TimeComparator(terms: LastJoinTerms, left: Seq[Attribute], right: Seq[Attribute]) {
  private val leftTime = UnsafeProjection.create(terms.asOf.toSeq, left)
  private val rightTime = UnsafeProjection.create(terms.rightTime.toSeq, right)
  private val ordering = RowOrdering.create(
    terms.asOfOrder.toSeq.map(order =>
      order.copy(child = BoundReference(0, order.dataType, nullable = true))),
    Nil)
  private var time: UnsafeRow = _
  private var candidate: UnsafeRow = _

  /** @return true if right rows may match the left row: it has a time, or its time throws */
  def start(leftRow: InternalRow): Boolean =
    try {
      time = leftTime(leftRow)
      !time.isNullAt(0)
    } catch {
      case _: Exception =>
        time = null
        true
    }

  /** True if the right row has no time. Keeps the row's time for `holds`. */
  def isUnknown(rightRow: InternalRow): Boolean = {
    candidate = rightTime(rightRow)
    unknown
  }

  def unknown: Boolean = candidate.isNullAt(0)

  def holds: Boolean = time == null || {
    val order = ordering.compare(candidate, time)
    order < 0 || order == 0 && !terms.strict
  }
}
