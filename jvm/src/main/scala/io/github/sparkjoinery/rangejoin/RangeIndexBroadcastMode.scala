package io.github.sparkjoinery.rangejoin

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.plans.physical.BroadcastMode
import org.apache.spark.sql.execution.joinery.ShippedRelation
import org.apache.spark.sql.joinery.{DriverBuildMemory, JoineryConf}

import io.github.sparkjoinery.rangejoin.index.{IndexedRows, RangeIndexBuilder, RangeLayout, RangeRuns}

/**
 * Ships a side of a range join as a `RangeIndex`, ready to search; once for all joins that file it alike. Where that
 * takes more than `spark.joinery.rangeJoin.maxBroadcast`, it ships an [[IndexTooLarge]] instead.
 */
case class RangeIndexBroadcastMode(layout: RangeLayout) extends BroadcastMode {

  override def transform(rows: Array[InternalRow]): ShippedRelation = transform(rows.iterator, Some(rows.length))

  override def transform(rows: Iterator[InternalRow], sizeHint: Option[Long]): ShippedRelation = {
    val limit = JoineryConf.rangeJoinMaxBroadcast
    build(rows, limit).getOrElse(new IndexTooLarge(limit))
  }

  private def build(rows: Iterator[InternalRow], limit: Long): Option[ShippedRelation] = rows match {
    case runs: RangeRuns if runs.shareOnePrefix => runs.index(new DriverBuildMemory(limit))
    case indexed: IndexedRows => indexed.index
    case _ =>
      val builder = new RangeIndexBuilder(layout, new DriverBuildMemory(limit))
      if (rows.forall(row => builder.add(row.asInstanceOf[UnsafeRow]))) Option(builder.result()) else None
  }

  override def canonicalized: BroadcastMode = RangeIndexBroadcastMode(layout.canonicalized)
}

/**
 * Says that there is no index to search, because it would be too large.
 *
 * @param limit
 *   bytes that it was to take at most
 */
final class IndexTooLarge(val limit: Long) extends ShippedRelation with Serializable {

  // Spark takes it for the size of the side, and must not find that small; from its own limit on it would give up.
  override val estimatedSize: Long = JoineryConf.mostBroadcast - 1
}
