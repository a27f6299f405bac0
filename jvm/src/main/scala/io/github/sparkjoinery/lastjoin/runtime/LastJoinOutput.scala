package io.github.sparkjoinery.lastjoin.runtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric

/** Joins left rows with their matches if no code is generated. It is sent to the executors instead of the plan. */
private[lastjoin] case class LastJoinOutput(
    output: Seq[Attribute],
    left: Seq[Attribute],
    right: Seq[Attribute],
    metrics: Map[String, SQLMetric]) {

  /** @param find returns the match of a left row, or null */
  def apply(leftRows: Iterator[InternalRow])(find: InternalRow => InternalRow): Iterator[InternalRow] = {
    val (numOutputRows, matchedRows) = (metrics("numOutputRows"), metrics("matchedRows"))
    val joined = new JoinedRow
    val nulls = new GenericInternalRow(right.length)
    val toUnsafe = UnsafeProjection.create(output, left ++ right.map(_.withNullability(true)))
    leftRows.map { leftRow =>
      val matched = find(leftRow)
      numOutputRows += 1
      if (matched != null) matchedRows += 1
      toUnsafe(joined(leftRow, if (matched == null) nulls else matched))
    }
  }
}
