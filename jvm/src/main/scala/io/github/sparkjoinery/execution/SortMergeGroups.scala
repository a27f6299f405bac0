package io.github.sparkjoinery.execution

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.joinery.SpillingRows

/** Walks the sorted right side, key by key. */
private[execution] class RightCursor(rows: Iterator[InternalRow], keys: Seq[Expression], output: Seq[Attribute]) {
  private val keyOf = UnsafeProjection.create(keys, output)
  private val ordering = RowOrdering.create(
    keys.zipWithIndex.map { case (key, i) => SortOrder(BoundReference(i, key.dataType, nullable = true), Ascending) }, Nil)
  private var key: UnsafeRow = _

  /** The row at hand, good until the next `advance`; null at the end. */
  var row: UnsafeRow = _
  advance()

  def advance(): Unit = {
    row = if (rows.hasNext) rows.next().asInstanceOf[UnsafeRow] else null
    key = if (row == null) null else keyOf(row)
  }

  def isAt(wanted: UnsafeRow): Boolean = row != null && ordering.compare(key, wanted) == 0

  /** Moves to the first row whose key is not before the one wanted. */
  def skipTo(wanted: UnsafeRow): Unit = while (row != null && ordering.compare(key, wanted) < 0) advance()
}

/** The right rows of the key at hand. Left rows come sorted by key, so each key is entered once. */
private[execution] abstract class RightGroup(cursor: RightCursor) {
  private var current: UnsafeRow = _

  /** The match of a left row with this key, or null. */
  final def lastMatch(leftRow: InternalRow, key: UnsafeRow): InternalRow = {
    if (current == null || current != key) {
      current = key.copy()
      cursor.skipTo(current)
      enter(current)
    }
    find(leftRow, current)
  }

  protected def enter(key: UnsafeRow): Unit
  protected def find(leftRow: InternalRow, key: UnsafeRow): InternalRow
}

/** Keys alone: the first row of the right side, which is sorted backwards. */
private[execution] class FirstRowGroup(cursor: RightCursor) extends RightGroup(cursor) {
  private var last: UnsafeRow = _

  override protected def enter(key: UnsafeRow): Unit = last = if (cursor.isAt(key)) cursor.row.copy() else null

  override protected def find(leftRow: InternalRow, key: UnsafeRow): InternalRow = last
}

/** As of a time: both sides move forwards together; the prevailing right row is all that is kept. */
private[execution] class AsOfGroup(
    cursor: RightCursor, terms: LastJoinTerms, left: Seq[Attribute], right: Seq[Attribute]) extends RightGroup(cursor) {

  private val leftTime = UnsafeProjection.create(terms.asOf.toSeq, left)
  private val rightTime = UnsafeProjection.create(Seq(terms.order.head.child), right)
  private val ordering = RowOrdering.create(Seq(terms.order.head.copy(
    child = BoundReference(0, terms.order.head.dataType, nullable = true), sameOrderExpressions = Nil)), Nil)
  private var prevailing: UnsafeRow = _

  override protected def enter(key: UnsafeRow): Unit = prevailing = null

  override protected def find(leftRow: InternalRow, key: UnsafeRow): InternalRow = {
    val time = leftTime(leftRow)
    if (time.isNullAt(0)) return null
    while (cursor.isAt(key) && isUpTo(time)) {
      if (!rightTime(cursor.row).isNullAt(0)) prevailing = cursor.row.copy()
      cursor.advance()
    }
    prevailing
  }

  private def isUpTo(time: InternalRow): Boolean = {
    val candidate = rightTime(cursor.row)
    candidate.isNullAt(0) || {
      val order = ordering.compare(candidate, time)
      order < 0 || order == 0 && !terms.strict
    }
  }
}

/** Any condition: the key's right rows, last first, are tried one after the other. They are buffered, and spill. */
private[execution] class BufferedGroup(
    cursor: RightCursor, passes: (InternalRow, InternalRow) => Boolean, spillSize: SQLMetric) extends RightGroup(cursor) {

  private val candidates = new SpillingRows

  override protected def enter(key: UnsafeRow): Unit = {
    candidates.clear()
    while (cursor.isAt(key)) {
      candidates.add(cursor.row)
      cursor.advance()
    }
    spillSize += candidates.spillSize
  }

  override protected def find(leftRow: InternalRow, key: UnsafeRow): InternalRow =
    candidates.find(passes(leftRow, _))
}
