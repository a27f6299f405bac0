package io.github.sparkjoinery.rangejoin.runtime

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.joinery.{ExecutionMemory, ReplayedRows, SpillLimits, TaskBuildMemory}

import io.github.sparkjoinery.rangejoin.logical.RangeLayout
import io.github.sparkjoinery.rangejoin.runtime.index.{RangeIndex, RangeIndexReader}

/**
 * Creates the tasks of [[ShuffledRangeJoinExec]] and [[CartesianRangeJoin]]. The factory is sent to the executors, the
 * plan is not.
 *
 * @param isRereading
 *   true if each task reads the whole indexed side. The streamed rows are read first then, because `input_file_name`
 *   and similar functions report the file that was opened last.
 */
private[rangejoin] case class ShuffledRangeTaskFactory(
    join: RangeJoin,
    layout: RangeLayout,
    isRereading: Boolean = false) {

  def start(streamedRows: Iterator[InternalRow], indexedRows: Iterator[InternalRow]): ShuffledRangeTask =
    new ShuffledRangeTask(streamedRows, indexedRows, this)

  /** The rows that a task emits without generated code. */
  def rows(streamedRows: Iterator[InternalRow], indexedRows: Iterator[InternalRow]): Iterator[InternalRow] =
    new RangeJoinOutput(join).given(new ShuffledRangeRows(join, start(streamedRows, indexedRows)))
}

/**
 * One task of [[ShuffledRangeJoinExec]] or [[CartesianRangeJoin]]. The task indexes its rows, in several parts if
 * memory is short. For each part, it goes through all streamed rows. If the join preserves the indexed side, it then
 * goes through the indexed rows of the part. Generated code or [[ShuffledRangeRows]] searches the matches of the
 * current row, and reports them to the task. The search may stop after each row that it emits, and come back: `isOpen`
 * says if a row is still current.
 */
private[rangejoin] class ShuffledRangeTask(
    streamedRows: Iterator[InternalRow],
    indexedRows: Iterator[InternalRow],
    factory: ShuffledRangeTaskFactory) {
  import factory._
  import factory.join._

  private var index: RangeIndex = _
  private var isLastPart = false
  private var place = -1 // place of the current indexed row
  private var number = -1 // number of the current streamed row among the kept rows
  private var isTurnOfIndexed = false
  private var isBegun = false

  /** True if a streamed row with a match needs no further search. */
  private val isGivenOnce = !givesOutIndexed && (joinType == LeftSemi || joinType == LeftAnti)

  /**
   * Finds candidates in the current part. Do not hold on to the reader: it holds the part, whose memory is released
   * when the next part is built.
   */
  var reader: RangeIndexReader = _

  /** The places in the part whose rows have a match; null if the join does not preserve the indexed side. */
  var matched: MatchedRows = _

  /** The current streamed row; null while the indexed rows are read. */
  var row: InternalRow = _

  /** True from `advance` to `close`: the current row is searched, or indexed rows are emitted. */
  var isOpen = false

  /** True if the current streamed row has a match in this part or an earlier one. */
  var isFound = false

  private val keptFirst = if (isRereading) keep(streamedRows) else null
  private val parts = new IndexParts(indexedRows, layout)
  nextPart()

  /** The streamed rows, kept if they are read several times. `found` then holds those with a match. */
  private val kept = if (isRereading || isLastPart) keptFirst else keep(streamedRows)
  private val found = if (kept == null) null else new MatchedRows
  private var rows = if (kept == null) streamedRows else read(kept)
  if (kept != null) metrics("tasksInParts") += 1

  /** Advances to the next streamed row, or to the indexed rows of the part. False if nothing is left. */
  def advance(): Boolean = {
    isBegun = false
    isOpen = true
    while (!nextStreamed()) {
      row = null
      if (givesOutIndexed && !isTurnOfIndexed) {
        isTurnOfIndexed = true
        matched.raise()
        place = -1
        return true
      }
      if (isLastPart) {
        isOpen = false
        return false
      }
      nextPart()
      rows = read(kept)
      number = -1
      isTurnOfIndexed = false
    }
    true
  }

  private def nextStreamed(): Boolean = {
    while (rows.hasNext) {
      row = rows.next()
      number += 1
      isFound = found != null && found.contains(number)
      if (!isFound || !isGivenOnce) return true
    }
    false
  }

  /** True on the first call for a row whose candidates are to be searched. */
  def begins(): Boolean = !isBegun && {
    isBegun = true
    row != null && (givesPairs || !isFound)
  }

  /** Records that the current streamed row has a match. */
  def find(): Unit = {
    isFound = true
    if (found != null) found.add(number)
  }

  /** Records that the current streamed row has no match in the part. A later part may hold one. */
  def miss(errors: FirstError): Unit =
    if (found == null) errors.raise()
    else {
      errors.get.foreach(found.fail(number, _))
      if (isLastPart) found.raise(number)
    }

  /** True if no later part will be searched for the current row. */
  def isLast: Boolean = isLastPart

  /** True if the current streamed row has no match in any part, once all its candidates have been tried. */
  def isUnmatched: Boolean = isLastPart && !isFound

  def close(): Unit = isOpen = false

  /** The next indexed row of the part that is emitted by itself, or null. */
  def nextIndexed(): UnsafeRow = {
    place += 1
    joinType match {
      case LeftSemi => while (place < index.numRows && !matched.contains(place)) place += 1
      case _: ExistenceJoin =>
      case _ => while (place < index.numRows && matched.contains(place)) place += 1
    }
    if (place < index.numRows) reader.row(place) else null
  }

  /** True if the indexed row that was emitted last has a match. */
  def isIndexedMatched: Boolean = matched.contains(place)

  private def nextPart(): Unit = {
    index = null
    reader = null
    index = parts.next()
    reader = index.reader(terms)
    isLastPart = !parts.hasNext
    if (givesOutIndexed) matched = new MatchedRows
    metrics("indexParts") += 1
    metrics("indexRows") += index.numRows
    metrics("indexSize") += index.estimatedSize
    metrics("indexTime") += index.buildTimeMs
  }

  /**
   * Memory for the kept streamed rows. The index gets most of a task's memory: fewer parts mean fewer passes over the
   * streamed rows.
   */
  private def limits: SpillLimits = SpillLimits.ofSortMergeJoin.atMost(ExecutionMemory.shareOfTask / 4)

  private def keep(rows: Iterator[InternalRow]): ReplayedRows = {
    val kept = new ReplayedRows(streamed.length, limits, TaskBuildMemory())
    TaskContext.get().addTaskCompletionListener[Unit](_ => kept.close())
    rows.foreach(row => kept.add(row.asInstanceOf[UnsafeRow]))
    metrics("spillSize") += kept.spillSize
    kept
  }

  private def read(kept: ReplayedRows): Iterator[InternalRow] = {
    val reader = kept.reader(0)
    Iterator.fill(kept.size)(reader.read())
  }
}
