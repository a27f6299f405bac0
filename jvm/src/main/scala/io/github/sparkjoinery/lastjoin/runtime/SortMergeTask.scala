package io.github.sparkjoinery.lastjoin.runtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric

import io.github.sparkjoinery.lastjoin.logical.LastJoinTerms

case class SortMergeTaskFactory(
    terms: LastJoinTerms,
    left: Seq[Attribute],
    right: Seq[Attribute],
    metrics: Map[String, SQLMetric])
  extends LastJoinTaskFactory {

  override def start(leftRows: Iterator[InternalRow], rightRows: Iterator[InternalRow]): SortMergeTask =
    new SortMergeTask(leftRows, rightRows, this)
}

/** One task of `SortMergeLastJoin`. Both sides come sorted by `leftSort` and `rightSort` of the terms. */
class SortMergeTask(leftRows: Iterator[InternalRow], rightRows: Iterator[InternalRow], join: SortMergeTaskFactory)
  extends LastJoinTask {
  import join._

  private val leftKey = UnsafeProjection.create(terms.leftKeys, left)
  private val cursor = new RightCursor(rightRows, terms.rightKeys, right)
  private val check = new CandidateCheck(terms, left, right, metrics("candidatesTried"))
  private val group =
    if (terms.onePass) new AsOfGroup(cursor, terms, check, left, right)
    else if (terms.lastOfKey) new FirstRowGroup(cursor)
    else new BufferedGroup(cursor, terms, check, left, right, metrics("spillSize"))

  var matched: InternalRow = _
  override def hasNext: Boolean = leftRows.hasNext

  override def next(): InternalRow = {
    val leftRow = leftRows.next()
    val key = leftKey(leftRow)
    matched = if (key.anyNull) null else group.lastMatch(leftRow, key)
    leftRow
  }
}
