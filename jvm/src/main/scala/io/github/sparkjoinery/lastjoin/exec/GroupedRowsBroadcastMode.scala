package io.github.sparkjoinery.lastjoin.exec

import org.apache.spark.SparkException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical.BroadcastMode
import org.apache.spark.sql.joinery.{DriverBuildMemory, JoineryConf}

import io.github.sparkjoinery.execution.rows.{GroupedRows, GroupedRowsBuilder, RowGrouping}

/**
 * Broadcasts the right side of a LAST JOIN as [[GroupedRows]], ready to search. Joins that group the side alike share
 * one broadcast.
 */
case class GroupedRowsBroadcastMode(right: RowGrouping) extends BroadcastMode {

  override def transform(rows: Array[InternalRow]): GroupedRows = transform(rows.iterator, Some(rows.length))

  override def transform(rows: Iterator[InternalRow], sizeHint: Option[Long]): GroupedRows = {
    val limit = JoineryConf.maxBroadcast.max(GroupedRowsBroadcastMode.Smallest)
    val builder = new GroupedRowsBuilder(right, new DriverBuildMemory(limit))
    if (rows.forall(row => builder.add(row.asInstanceOf[UnsafeRow]))) Option(builder.result()).getOrElse(tooLarge())
    else tooLarge()
  }

  private def tooLarge(): Nothing = throw new SparkException(
    s"[JOINERY_LAST_JOIN.BROADCAST_TOO_LARGE] The right side of a LAST JOIN takes more than ${JoineryConf.maxBroadcast} bytes to " +
      "broadcast. Take a BROADCAST hint away, lower spark.sql.autoBroadcastJoinThreshold, or, if the driver and every executor have " +
      "the memory, raise spark.joinery.lastJoin.maxBroadcast.")

  override def canonicalized: BroadcastMode = GroupedRowsBroadcastMode(right.canonicalized)
}

object GroupedRowsBroadcastMode {

  /** The lowest limit, in bytes. An empty relation takes some memory, too, and every driver has this much. */
  private val Smallest = 64L << 10
}
