package io.github.sparkjoinery.execution

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical.BroadcastMode

import io.github.sparkjoinery.execution.rows.{DriverBuildMemory, GroupedRows, GroupedRowsBuilder}

/** Ships the right side of a LAST JOIN as [[GroupedRows]], ready to search; once for all joins with the same right terms. */
case class GroupedRowsBroadcastMode(right: RightTerms) extends BroadcastMode {

  override def transform(rows: Array[InternalRow]): GroupedRows = transform(rows.iterator, Some(rows.length))

  override def transform(rows: Iterator[InternalRow], sizeHint: Option[Long]): GroupedRows = {
    val builder = new GroupedRowsBuilder(right, new DriverBuildMemory)
    rows.foreach(row => builder.add(row.asInstanceOf[UnsafeRow]))
    builder.result()
  }

  override def canonicalized: BroadcastMode = GroupedRowsBroadcastMode(right.canonicalized)
}
