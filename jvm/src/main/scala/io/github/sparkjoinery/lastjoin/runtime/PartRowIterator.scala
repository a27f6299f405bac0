package io.github.sparkjoinery.lastjoin.runtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric

import io.github.sparkjoinery.execution.rows.{RowGrouping, TaskRowsBuilder}
import io.github.sparkjoinery.execution.skew.Cuts

/** Iterates over the rows of one part, then over the rows carried into it if `carry` is given. */
private[lastjoin] class PartRowIterator(
    rows: Iterator[InternalRow],
    timeOf: UnsafeProjection,
    part: Int,
    cuts: Array[Long],
    carry: Option[RowGrouping],
    carried: SQLMetric)
  extends Iterator[InternalRow] {

  // The last earlier row of each key. Rows that find no memory are passed on, which is safe: more rows do no harm.
  private lazy val before = carry.map(terms => new TaskRowsBuilder(terms.copy(onlyLast = true)))
  private var next_ : InternalRow = _
  private var rest: Iterator[InternalRow] = _

  override def hasNext: Boolean = {
    while (next_ == null && rows.hasNext) {
      val row = rows.next()
      val time = timeOf(row)
      val at = if (time.isNullAt(0)) { if (carry.isEmpty) cuts.length else PartRowIterator.Nowhere }
      else Cuts.partOf(time.getLong(0), cuts)
      if (at == part) next_ = row
      else if (at < part && at != PartRowIterator.Nowhere && before.exists(!_.add(row.asInstanceOf[UnsafeRow])))
        next_ = row
    }
    if (next_ == null && rest == null) {
      rest = before.fold(Iterator.empty: Iterator[InternalRow])(_.drain().map { row => carried += 1; row })
    }
    next_ != null || rest.hasNext
  }

  override def next(): InternalRow = {
    if (!hasNext) Iterator.empty.next()
    else if (next_ != null) { val row = next_; next_ = null; row }
    else rest.next()
  }
}

private object PartRowIterator {
  val Nowhere: Int = -1
}
