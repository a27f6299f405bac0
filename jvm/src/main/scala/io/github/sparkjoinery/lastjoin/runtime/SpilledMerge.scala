package io.github.sparkjoinery.lastjoin.runtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.joinery.SpillingSort
import org.apache.spark.sql.types.BooleanType

/**
 * Finishes a `ShuffledHashLastJoin` task whose right rows do not fit into memory. It sorts and merges both sides, and
 * sorts the result if the order of the left side has to be kept.
 *
 * @param rightRows
 *   the sorted right rows
 */
private[lastjoin] class SpilledMerge(
    leftRows: Iterator[InternalRow],
    rightRows: Iterator[InternalRow],
    join: ShuffledHashTaskFactory)
  extends LastJoinTask {

  import join._

  private val task = if (leftOrdering.isEmpty) merge() else inOrderOfLeft(merge())

  override def hasNext: Boolean = task.hasNext
  override def next(): InternalRow = task.next()
  override def matched: InternalRow = task.matched

  private def merge(): LastJoinTask = new SortMergeTask(
    SpilledMerge.sort(leftRows, terms.leftSort, left, join),
    rightRows,
    SortMergeTaskFactory(terms, left, right, metrics))

  private def inOrderOfLeft(merged: LastJoinTask): LastJoinTask = {
    val isMatched = AttributeReference("isMatched", BooleanType)()
    val columns = left ++ right.map(_.withNullability(true)) :+ isMatched
    val toUnsafe = UnsafeProjection.create(columns, columns)
    val (both, all) = (new JoinedRow, new JoinedRow)
    val (nulls, flag) = (new GenericInternalRow(right.length), new GenericInternalRow(1))
    val joined = merged.map { leftRow =>
      flag.update(0, merged.matched != null)
      toUnsafe(all(both(leftRow, if (merged.matched == null) nulls else merged.matched), flag))
    }
    val sorted = SpilledMerge.sort(joined, leftOrdering, columns, join)
    new LastJoinTask {
      private val leftOf = UnsafeProjection.create(left, columns)
      private val rightOf = UnsafeProjection.create(right, columns)
      var matched: InternalRow = _
      override def hasNext: Boolean = sorted.hasNext
      override def next(): InternalRow = {
        val row = sorted.next()
        matched = if (row.getBoolean(columns.length - 1)) rightOf(row) else null
        leftOf(row)
      }
    }
  }
}

private[lastjoin] object SpilledMerge {

  /** @param order the sort order; if it is empty, the rows are returned unsorted */
  def sort(
      rows: Iterator[InternalRow],
      order: Seq[SortOrder],
      output: Seq[Attribute],
      join: ShuffledHashTaskFactory): Iterator[InternalRow] = {
    if (order.isEmpty) return rows
    val sort = new SpillingSort(order, output, join.metrics("spillSize"))
    rows.foreach(row => sort.insert(row.asInstanceOf[UnsafeRow]))
    sort.sorted()
  }
}
