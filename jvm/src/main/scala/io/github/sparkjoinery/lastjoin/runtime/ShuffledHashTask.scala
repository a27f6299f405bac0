package io.github.sparkjoinery.lastjoin.runtime

import java.util.concurrent.TimeUnit.NANOSECONDS

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric

import io.github.sparkjoinery.execution.rows.{GroupedRows, GroupedRowsReader, TaskRowsBuilder}
import io.github.sparkjoinery.lastjoin.logical.LastJoinTerms

/** @param leftOrdering the order of the left rows, which a task has to keep */
case class ShuffledHashTaskFactory(
    terms: LastJoinTerms,
    left: Seq[Attribute],
    right: Seq[Attribute],
    leftOrdering: Seq[SortOrder],
    metrics: Map[String, SQLMetric]) extends LastJoinTaskFactory {

  override def start(leftRows: Iterator[InternalRow], rightRows: Iterator[InternalRow]): ShuffledHashTask =
    new ShuffledHashTask(leftRows, rightRows, this)
}

/**
 * One task of `ShuffledHashLastJoin`. It groups the right rows in memory, and the caller looks up each left row in
 * `relation`. If memory runs out during the build, the task sorts and merges both sides instead, spilling if needed.
 * The task itself then returns the match of each left row.
 */
class ShuffledHashTask(leftRows: Iterator[InternalRow], rightRows: Iterator[InternalRow], join: ShuffledHashTaskFactory)
  extends LastJoinTask {
  import join._

  private var sortedRight: Iterator[InternalRow] = _
  private val relation: GroupedRows = build()
  private lazy val merged = new SpilledMerge(leftRows, sortedRight, join)
  private lazy val batch = new LeftBatch(leftRows, relation, terms, left, right)

  private val tried = metrics("candidatesTried")

  def isSpilled: Boolean = relation == null

  override def hasNext: Boolean = if (isSpilled) merged.hasNext else batch.hasNext
  override def next(): InternalRow = if (isSpilled) merged.next() else batch.next()

  /**
   * The match of the left row. Unless the task has spilled, it is the last candidate, and the caller tests the
   * conditions.
   */
  override def matched: InternalRow = if (isSpilled) merged.matched
  else {
    val row = batch.lastRow
    if (row != null) tried += 1
    row
  }

  // for tasks with conditions that have not spilled

  def reader: GroupedRowsReader = if (isSpilled) null else relation.reader(terms.timeOrder(right).orNull)
  def first: Int = batch.first
  def last: Int = batch.last
  def lastPassing: InternalRow => InternalRow = {
    val search = new CandidateSearch(reader, terms, left, right, tried)
    search.lastPassing(_, first, last)
  }

  private def build(): GroupedRows = {
    val start = System.nanoTime()
    val builder = new TaskRowsBuilder(terms.grouping(right))
    var refused: InternalRow = null
    var rows = 0L
    while (refused == null && rightRows.hasNext) {
      val row = rightRows.next()
      rows += 1
      if (!builder.add(row.asInstanceOf[UnsafeRow])) refused = row
    }
    val built = if (refused == null) builder.result() else null
    metrics("rowsBuilt") += rows
    metrics("buildTime") += NANOSECONDS.toMillis(System.nanoTime() - start)
    if (built == null) {
      sortedRight = SpilledMerge.sort(builder.drain() ++ Option(refused) ++ rightRows, terms.rightSort, right, join)
    } else {
      metrics("distinctKeys") += built.index.size
      metrics("buildSize") += built.estimatedSize
    }
    built
  }
}
