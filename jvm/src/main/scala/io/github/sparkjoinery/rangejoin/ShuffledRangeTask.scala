package io.github.sparkjoinery.rangejoin

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.joinery.{ExecutionMemory, ReplayedRows, SpillLimits, TaskBuildMemory}
import org.apache.spark.util.collection.BitSet

import io.github.sparkjoinery.rangejoin.index.{RangeIndex, RangeLayout}

/** One task of [[ShuffledRangeJoinExec]], or of [[RereadRangeJoin]]. */
private[rangejoin] class ShuffledRangeTask(join: RangeJoin, layout: RangeLayout) {
  import join._

  def rows(streamedRows: Iterator[InternalRow], indexedRows: Iterator[InternalRow]): Iterator[InternalRow] = {
    val parts = new IndexParts(indexedRows, layout)
    val first = next(parts)
    if (parts.hasNext) severalParts(keep(streamedRows), first, parts) else onePart(streamedRows, first)
  }

  /**
   * Where the indexed rows are a task's own only to read. The streamed rows come first, as `input_file_name` and the
   * like tell of the file that was opened last.
   */
  def rereading(streamedRows: Iterator[InternalRow], indexedRows: Iterator[InternalRow]): Iterator[InternalRow] = {
    val kept = keep(streamedRows)
    val parts = new IndexParts(indexedRows, layout)
    severalParts(kept, next(parts), parts)
  }

  private def next(parts: IndexParts): RangeIndex = {
    val index = parts.next()
    metrics("indexParts") += 1
    metrics("indexRows") += index.numRows
    metrics("indexSize") += index.estimatedSize
    metrics("indexTime") += index.buildTimeMs
    index
  }

  private def matchesOf(index: RangeIndex): BitSet = if (givesOutIndexed) new BitSet(index.numRows) else null

  private def onePart(streamedRows: Iterator[InternalRow], index: RangeIndex): Iterator[InternalRow] = {
    val matched = matchesOf(index)
    val task = new RangeJoinTask(join, index, matched)
    if (!givesOutIndexed) task.join(streamedRows)
    else if (givesPairs) task.join(streamedRows) ++ task.indexedRows(matched)
    else {
      task.mark(streamedRows, matched)
      task.indexedRows(matched)
    }
  }

  /**
   * The streamed rows, which are kept, are read once for each part of the index. What is given out of a streamed row
   * that depends on all parts comes at the end.
   */
  private def severalParts(kept: ReplayedRows, first: RangeIndex, parts: IndexParts): Iterator[InternalRow] = {
    metrics("tasksInParts") += 1
    val output = new RangeJoinOutput(join)
    val found = new BitSet(kept.size)
    def ofPart(index: RangeIndex): Iterator[InternalRow] = {
      val matched = matchesOf(index)
      val task = new RangeJoinTask(join, index, matched)
      val fromStreamed =
        if (givesPairs) output.given(read(kept).flatMap { case (row, i) =>
          tell(task.pairs(row, isKept = false), found, i)
        })
        else {
          if (givesOutIndexed) task.mark(read(kept).map(_._1), matched)
          else read(kept).foreach { case (row, i) => if (!found.get(i) && task.hasMatch(row)) found.set(i) }
          Iterator.empty
        }
      fromStreamed ++ (if (givesOutIndexed) task.indexedRows(matched) else Iterator.empty)
    }
    def atTheEnd: Iterator[InternalRow] = joinType match {
      case LeftSemi if !givesOutIndexed => output.given(read(kept).collect { case (row, i) if found.get(i) => row })
      case LeftAnti if !givesOutIndexed => output.given(read(kept).collect { case (row, i) if !found.get(i) => row })
      case _: ExistenceJoin if !givesOutIndexed =>
        output.given(read(kept).map { case (row, i) => output.flagged(row, found.get(i)) })
      case _ if keepsStreamed =>
        output.given(read(kept).collect { case (row, i) if !found.get(i) => output.unmatched(row) })
      case _ => Iterator.empty
    }
    // Not by flatMap, which holds on to a part while the next one is built: its memory is released by then.
    val ofParts = new Iterator[InternalRow] {
      private var current = ofPart(first)
      override def hasNext: Boolean = {
        while (!current.hasNext && parts.hasNext) {
          current = Iterator.empty
          current = ofPart(ShuffledRangeTask.this.next(parts))
        }
        current.hasNext
      }
      override def next(): InternalRow = if (hasNext) current.next() else Iterator.empty.next()
    }
    ofParts ++ atTheEnd
  }

  /** Remembers whether a streamed row has a pair. */
  private def tell(pairs: Iterator[InternalRow], found: BitSet, i: Int): Iterator[InternalRow] = {
    if (pairs.hasNext) found.set(i)
    pairs
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

  private def read(kept: ReplayedRows): Iterator[(InternalRow, Int)] = {
    lazy val reader = kept.reader(0)
    Iterator.range(0, kept.size).map(i => (reader.read(), i))
  }
}
