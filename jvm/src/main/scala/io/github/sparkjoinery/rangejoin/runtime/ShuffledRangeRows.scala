package io.github.sparkjoinery.rangejoin.runtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans._

/** The rows that a [[ShuffledRangeTask]] emits without generated code. Each row is valid until the next one is read. */
private[rangejoin] class ShuffledRangeRows(join: RangeJoin, task: ShuffledRangeTask) extends Iterator[InternalRow] {
  import join._

  private val search = new RangeSearch(terms, streamed, indexed, task.reader)
  private val (probes, candidates) = (metrics("probes"), metrics("candidates"))
  private val output = new RangeJoinOutput(join)
  private var found: InternalRow = _

  override def hasNext: Boolean = {
    while (found == null && (task.isOpen || task.advance())) {
      if (task.begins()) {
        probes += 1
        search.begin(task.row)
      }
      if (task.row == null) found = ofIndexed()
      else {
        found = if (givesPairs) pair() else if (givesOutIndexed) mark() else ofStreamed()
        if (!task.isOpen) candidates += search.candidates()
      }
    }
    found != null
  }

  override def next(): InternalRow = {
    if (!hasNext) Iterator.empty.next()
    val row = found
    found = null
    row
  }

  private def pair(): InternalRow = {
    val place = search.next()
    if (place < 0) {
      task.close()
      if (keepsStreamed && task.isUnmatched) output.unmatched(task.row) else null
    } else {
      task.find()
      if (givesOutIndexed) task.matched.add(place)
      output.sided(task.row, search.row(place))
    }
  }

  private def mark(): InternalRow = {
    search.mark(task.matched)
    task.close()
    null
  }

  private def ofStreamed(): InternalRow = {
    val hadMatch = task.isFound
    if (!hadMatch && search.hasMatch(task.miss)) task.find()
    task.close()
    joinType match {
      case LeftSemi => if (task.isFound) task.row else null
      case LeftAnti => if (task.isUnmatched) task.row else null
      case _ => if (task.isLast) output.flagged(task.row, task.isFound) else null
    }
  }

  private def ofIndexed(): InternalRow = {
    val row = task.nextIndexed()
    if (row == null) {
      task.close()
      null
    } else joinType match {
      case LeftSemi | LeftAnti => row
      case _: ExistenceJoin => output.flagged(row, task.isIndexedMatched)
      case _ => output.unmatchedIndexed(row)
    }
  }
}
