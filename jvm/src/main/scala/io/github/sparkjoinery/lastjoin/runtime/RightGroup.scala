package io.github.sparkjoinery.lastjoin.runtime

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.joinery.{ReplayedRows, SpillLimits, TaskBuildMemory}

import io.github.sparkjoinery.lastjoin.logical.LastJoinTerms

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
 * not after the left one.
 */
private[lastjoin] class AsOfGroup(
    cursor: RightCursor,
    terms: LastJoinTerms,
    check: CandidateCheck,
    left: Seq[Attribute],
    right: Seq[Attribute])
  extends RightGroup(cursor) {

  private val asOf = new TimeComparator(terms, left, right)
  private var prevailing: UnsafeRow = _

  override protected def enter(key: UnsafeRow): Unit = prevailing = null

  override protected def find(leftRow: InternalRow, key: UnsafeRow): InternalRow = {
    val isKnown = asOf.start(leftRow)
    while (isKnown && cursor.isAt(key) && (asOf.isUnknown(cursor.row) || asOf.holds)) {
      if (!asOf.unknown) prevailing = cursor.row.copy()
      cursor.advance()
    }
    if (isKnown && prevailing != null && check.passes(leftRow, prevailing)) prevailing else null
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

  private val asOf = terms.asOf.map(_ => new TimeComparator(terms, left, right))
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
    if (asOf.exists(!_.start(leftRow))) return null
    val reader = candidates.reader(0)
    var row = reader.read()
    while (row != null) {
      if (asOf.forall(asOf => !asOf.isUnknown(row) && asOf.holds) && check.passes(leftRow, row)) return row
      row = if (check.stop) null else reader.read()
    }
    null
  }
}
