package io.github.sparkjoinery.rangejoin

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.joinery.{ExecutionMemory, ReplayedRows, SpillLimits, TaskBuildMemory}

import io.github.sparkjoinery.rangejoin.index.{RangeIndex, RangeIndexReader, RangeLayout}

/**
 * Starts the tasks of [[ShuffledRangeJoinExec]], or of [[RereadRangeJoin]]. It goes to the executors, the plan does
 * not.
 *
 * @param isRereading
 *   whether the indexed rows are a task's own only to read. The streamed rows come first then, as `input_file_name` and
 *   the like tell of the file that was opened last.
 */
private[rangejoin] case class ShuffledRangeTasks(join: RangeJoin, layout: RangeLayout, isRereading: Boolean = false) {

  def start(streamedRows: Iterator[InternalRow], indexedRows: Iterator[InternalRow]): ShuffledRangeTask =
    new ShuffledRangeTask(streamedRows, indexedRows, this)

  /** What a task gives out where no code is generated. */
  def rows(streamedRows: Iterator[InternalRow], indexedRows: Iterator[InternalRow]): Iterator[InternalRow] =
    new RangeJoinOutput(join).given(new ShuffledRangeRows(join, start(streamedRows, indexedRows)))
}

/**
 * One task of [[ShuffledRangeJoinExec]], or of [[RereadRangeJoin]]. It indexes its rows, in parts if memory is short,
 * and goes from one streamed row to the next, for each part anew; and after that, if the join gives out indexed rows
 * for what they are, through those of the part. Generated code or [[ShuffledRangeRows]] searches the matches of the row
 * at hand, and tells the task of them. It may stop in between, after each row that it gives out, and come back: the
 * task knows whether a row is still at hand.
 */
private[rangejoin] class ShuffledRangeTask(
    streamedRows: Iterator[InternalRow],
    indexedRows: Iterator[InternalRow],
    tasks: ShuffledRangeTasks) {
  import tasks._
  import tasks.join._

  private var index: RangeIndex = _
  private var isLastPart = false
  private var place = -1 // of the indexed row at hand
  private var number = -1 // of the streamed row at hand, among those that are kept
  private var isTurnOfIndexed = false
  private var isBegun = false

  /** Whether nothing is left to be done for a streamed row that has a match. */
  private val isGivenOnce = !givesOutIndexed && (joinType == LeftSemi || joinType == LeftAnti)

  /**
   * Finds candidates in the part at hand. It is to be asked for anew each time: who holds it holds the part, whose
   * memory is released when the next one is built.
   */
  var reader: RangeIndexReader = _

  /** The places of the part whose rows have a match; null where nobody asks. */
  var matched: MatchedRows = _

  /** The streamed row at hand; null where it is the turn of the indexed rows. */
  var row: InternalRow = _

  /** Whether the row at hand is being searched, or the indexed rows are being given out: until `close`. */
  var isOpen = false

  /** Whether the streamed row at hand has a match, in this part or in one before. */
  var isFound = false

  private val keptFirst = if (isRereading) keep(streamedRows) else null
  private val parts = new IndexParts(indexedRows, layout)
  nextPart()

  /** Where they are read several times: the streamed rows, and which of them have a match. */
  private val kept = if (isRereading || isLastPart) keptFirst else keep(streamedRows)
  private val found = if (kept == null) null else new MatchedRows
  private var rows = if (kept == null) streamedRows else read(kept)
  if (kept != null) metrics("tasksInParts") += 1

  /** Goes on to the next streamed row, or to the turn of the indexed rows; false: there is nothing left. */
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

  /** Whether candidates of the row at hand are to be looked for, which is asked before each look at it. */
  def begins(): Boolean = !isBegun && {
    isBegun = true
    row != null && (givesPairs || !isFound)
  }

  /** The streamed row at hand has a match. */
  def find(): Unit = {
    isFound = true
    if (found != null) found.add(number)
  }

  /** The streamed row at hand has no match in the part, but may have one in a later part. */
  def miss(errors: FirstError): Unit =
    if (found == null) errors.raise()
    else {
      errors.get.foreach(found.fail(number, _))
      if (isLastPart) found.raise(number)
    }

  /** Whether nothing is left to be searched for the row at hand after this part. */
  def isLast: Boolean = isLastPart

  /** Whether the streamed row at hand, all of whose candidates have been tried, is given out beside NULLs. */
  def isUnmatched: Boolean = isLastPart && !isFound

  def close(): Unit = isOpen = false

  /** The next indexed row of the part to be given out for what it is, or null. */
  def nextIndexed(): UnsafeRow = {
    place += 1
    joinType match {
      case LeftSemi => while (place < index.numRows && !matched.contains(place)) place += 1
      case _: ExistenceJoin =>
      case _ => while (place < index.numRows && matched.contains(place)) place += 1
    }
    if (place < index.numRows) reader.row(place) else null
  }

  /** Whether the indexed row that was given out last has a match. */
  def isIndexedMatched: Boolean = matched.contains(place)

  private def nextPart(): Unit = {
    index = null
    reader = null
    index = parts.next()
    reader = terms.reader(index)
    isLastPart = !parts.hasNext
    if (givesOutIndexed) matched = new MatchedRows
    metrics("indexParts") += 1
    metrics("indexRows") += index.numRows
    metrics("indexSize") += index.estimatedSize
    metrics("indexTime") += index.buildTimeMs
  }

  /** Most of a task's memory is the index's: the fewer parts there are, the less often the rows are read. */
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
