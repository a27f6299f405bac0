package io.github.sparkjoinery.lastjoin.search

import scala.util.control.NonFatal

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.joinery.{ReplayedRows, SpillLimits, TaskBuildMemory}

import io.github.sparkjoinery.lastjoin.logical.LastJoinTerms

/** Walks over the sorted right side, key by key. */
private[lastjoin] class RightCursor(rows: Iterator[InternalRow], keys: Seq[Expression], output: Seq[Attribute]) {
  private val keyOf = UnsafeProjection.create(keys, output)
  private val ordering = RowOrdering.create(
    keys.zipWithIndex.map { case (key, i) => SortOrder(BoundReference(i, key.dataType, nullable = true), Ascending) },
    Nil)
  private var key: UnsafeRow = _

  /** The current row, valid until the next `advance`; null at the end. */
  var row: UnsafeRow = _
  advance()

  def advance(): Unit = {
    row = if (rows.hasNext) rows.next().asInstanceOf[UnsafeRow] else null
    key = if (row == null) null else keyOf(row)
  }

  def isAt(wanted: UnsafeRow): Boolean = row != null && ordering.compare(key, wanted) == 0

  /** Moves to the first row whose key is not before the wanted key. */
  def skipTo(wanted: UnsafeRow): Unit = while (row != null && ordering.compare(key, wanted) < 0) advance()
}

/** The right rows of the current key. Left rows come sorted by key, so each key is entered once. */
private[lastjoin] abstract class RightGroup(cursor: RightCursor) {
  private var current: UnsafeRow = _

  /** Returns the match of a left row with this key, or null. */
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

/** The group of a join by keys alone. The right side is sorted backwards, so the first row is the match. */
private[lastjoin] class FirstRowGroup(cursor: RightCursor) extends RightGroup(cursor) {
  private var last: UnsafeRow = _

  override protected def enter(key: UnsafeRow): Unit = last = if (cursor.isAt(key)) cursor.row.copy() else null

  override protected def find(leftRow: InternalRow, key: UnsafeRow): InternalRow = last
}

/**
 * The group of an as-of join. Both sides move forwards together, and the group holds only the last right row that is
 * not after the left one. Left rows whose bound throws come last, and are checked with the last row of the key.
 */
private[lastjoin] class AsOfGroup(
    cursor: RightCursor,
    terms: LastJoinTerms,
    check: CandidateCheck,
    left: Seq[Attribute],
    right: Seq[Attribute])
  extends RightGroup(cursor) {

  private val asOf = new AsOfComparison(terms, left, right)
  private var prevailing: UnsafeRow = _

  override protected def enter(key: UnsafeRow): Unit = prevailing = null

  override protected def find(leftRow: InternalRow, key: UnsafeRow): InternalRow = {
    val isKnown = asOf.start(leftRow)
    if (isKnown || asOf.error != null) advance(key, isKnown)
    if (asOf.error != null && prevailing != null) check.failures.ofPair(asOf.error, leftRow, prevailing)
    if (isKnown && prevailing != null && check.passes(leftRow, prevailing)) prevailing else null
  }

  /** @param isKnown true if the left row has a time to stop at */
  private def advance(key: UnsafeRow, isKnown: Boolean): Unit =
    while (cursor.isAt(key) && (asOf.isUnknown(cursor.row) || !isKnown || asOf.holds)) {
      if (!asOf.unknown) prevailing = cursor.row.copy()
      cursor.advance()
    }
}

/** Compares the time of one left row with those of right rows. */
private[lastjoin] class AsOfComparison(terms: LastJoinTerms, left: Seq[Attribute], right: Seq[Attribute]) {
  private val leftTime = UnsafeProjection.create(terms.asOf.toSeq, left)
  private val rightTime = UnsafeProjection.create(terms.rightTime.toSeq, right)
  private val ordering = RowOrdering.create(
    terms.asOfOrder.toSeq.map(order =>
      order.copy(child = BoundReference(0, order.dataType, nullable = true))),
    Nil)
  private var time: UnsafeRow = _
  private var candidate: UnsafeRow = _

  /** The error of the current left row's time; null if it has none. */
  var error: Throwable = _

  /** @return true if the left row has a time, so that right rows may match it */
  def start(leftRow: InternalRow): Boolean =
    try {
      error = null
      time = leftTime(leftRow)
      !time.isNullAt(0)
    } catch {
      case NonFatal(failure) =>
        error = failure
        false
    }

  /** True if the right row has no time. Keeps the row's time for `holds`. */
  def isUnknown(rightRow: InternalRow): Boolean = {
    candidate = rightTime(rightRow)
    unknown
  }

  def unknown: Boolean = candidate.isNullAt(0)

  def holds: Boolean = {
    val order = ordering.compare(candidate, time)
    order < 0 || order == 0 && !terms.strict
  }
}

/**
 * The group of a join with any condition. It buffers the right rows of the key, last first, and tests one after the
 * other. The buffer spills.
 */
private[lastjoin] class BufferedGroup(
    cursor: RightCursor,
    terms: LastJoinTerms,
    check: CandidateCheck,
    left: Seq[Attribute],
    right: Seq[Attribute],
    spillSize: SQLMetric)
  extends RightGroup(cursor) {

  private val asOf = terms.asOf.map(_ => new AsOfComparison(terms, left, right))
  private val candidates = new ReplayedRows(right.length, SpillLimits.ofSortMergeJoin, TaskBuildMemory())
  TaskContext.get().addTaskCompletionListener[Unit] { _ =>
    spillSize += candidates.spillSize
    candidates.close()
  }

  override protected def enter(key: UnsafeRow): Unit = {
    candidates.clear()
    while (cursor.isAt(key)) {
      candidates.add(cursor.row)
      cursor.advance()
    }
  }

  override protected def find(leftRow: InternalRow, key: UnsafeRow): InternalRow = {
    check.stop = false
    if (asOf.exists(!_.start(leftRow))) {
      asOf.filter(_.error != null).foreach(fail(leftRow, _))
      return null
    }
    var passed = false
    val last = firstOf { candidate =>
      passed = asOf.forall(asOf => !asOf.isUnknown(candidate) && asOf.holds) && check.passes(leftRow, candidate)
      passed || check.stop
    }
    if (passed) last else null
  }

  /** Returns the first candidate that passes, or null; valid until the next group. */
  private def firstOf(passes: UnsafeRow => Boolean): UnsafeRow = {
    val reader = candidates.reader(0)
    var row = reader.read()
    while (row != null && !passes(row)) row = reader.read()
    row
  }

  private def fail(leftRow: InternalRow, asOf: AsOfComparison): Unit = if (check.failures.mayMatch(leftRow)) {
    firstOf { candidate =>
      if (!asOf.isUnknown(candidate)) check.failures.ofPair(asOf.error, leftRow, candidate)
      false
    }
  }
}
