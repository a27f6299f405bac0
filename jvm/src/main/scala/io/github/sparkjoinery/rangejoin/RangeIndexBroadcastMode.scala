package io.github.sparkjoinery.rangejoin

import org.apache.spark.SparkException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.plans.physical.BroadcastMode
import org.apache.spark.sql.joinery.{DriverBuildMemory, JoineryConf}

import io.github.sparkjoinery.rangejoin.index.{RangeIndex, RangeIndexBuilder, RangeLayout}

/** Ships a side of a range join as a [[RangeIndex]], ready to search; once for all joins that file it alike. */
case class RangeIndexBroadcastMode(layout: RangeLayout) extends BroadcastMode {

  override def transform(rows: Array[InternalRow]): RangeIndex = transform(rows.iterator, Some(rows.length))

  override def transform(rows: Iterator[InternalRow], sizeHint: Option[Long]): RangeIndex = {
    val builder = new RangeIndexBuilder(layout, new DriverBuildMemory(JoineryConf.rangeJoinMaxBroadcast))
    if (rows.forall(row => builder.add(row.asInstanceOf[UnsafeRow]))) Option(builder.result()).getOrElse(tooLarge())
    else tooLarge()
  }

  private def tooLarge(): Nothing = throw new SparkException(
    "[JOINERY_RANGE_JOIN.BROADCAST_TOO_LARGE] The indexed side of a range join takes more than " +
      s"${JoineryConf.rangeJoinMaxBroadcast} bytes. Take a hint RANGE_JOIN or BROADCAST away, set spark.joinery.rangeJoin.enabled to " +
      "false for this query, or, if the driver and every executor have the memory, raise spark.joinery.rangeJoin.maxBroadcast.")

  override def canonicalized: BroadcastMode = RangeIndexBroadcastMode(layout.canonicalized)
}
