package io.github.sparkjoinery.lastjoin.runtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric

import io.github.sparkjoinery.execution.rows.{RowGrouping, TaskRowsBuilder}

/** @param rows the rows of one partition */
private[lastjoin] class LastRows(rows: Iterator[InternalRow], terms: RowGrouping, read: SQLMetric)
  extends Iterator[InternalRow] {
  private var builder: TaskRowsBuilder = _
  private var refused: InternalRow = _
  private var letThrough = false
  private var reduced: Iterator[InternalRow] = Iterator.empty

  override def hasNext: Boolean = {
    while (!reduced.hasNext && !letThrough && (refused != null || rows.hasNext)) reduced = reduce()
    reduced.hasNext || refused != null || rows.hasNext
  }

  override def next(): InternalRow =
    if (!hasNext) Iterator.empty.next()
    else if (reduced.hasNext) reduced.next()
    else if (refused != null) { val row = refused; refused = null; row }
    else { read += 1; rows.next() }

  /** Reduces rows until the input ends, memory runs out, or too few keys repeat. */
  private def reduce(): Iterator[InternalRow] = {
    if (builder == null) builder = new TaskRowsBuilder(terms) else builder.begin()
    if (refused != null && !builder.add(refused.asInstanceOf[UnsafeRow])) {
      letThrough = true // not even one row fits
      return Iterator.empty
    }
    refused = null
    var count = 0
    while (refused == null && !letThrough && rows.hasNext) {
      val row = rows.next()
      count += 1
      if (!builder.add(row.asInstanceOf[UnsafeRow])) refused = row
      letThrough = count == LastRows.Sample && builder.numKeys > count * LastRows.WorthIt
    }
    read += count
    builder.drain()
  }
}

private object LastRows {
  val Sample: Int = 1 << 16

  /** The share of distinct keys beyond which the reduction costs more than it saves. */
  val WorthIt = 0.6
}
