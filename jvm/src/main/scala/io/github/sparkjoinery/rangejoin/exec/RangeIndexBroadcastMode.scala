package io.github.sparkjoinery.rangejoin.exec

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.plans.physical.BroadcastMode
import org.apache.spark.sql.execution.joinery.BroadcastRelation
import org.apache.spark.sql.joinery.{DriverBuildMemory, JoineryConf}

import io.github.sparkjoinery.rangejoin.logical.RangeLayout
import io.github.sparkjoinery.rangejoin.runtime.index.{PrebuiltIndex, RangeIndexBuilder, RangeRunMerge}

/**
 * Broadcasts a side of a range join as a `RangeIndex`, ready to search. Joins that need the same index share one
 * broadcast. If the index exceeds `spark.joinery.rangeJoin.maxBroadcast`, an [[IndexTooLarge]] is broadcast instead.
 */
case class RangeIndexBroadcastMode(layout: RangeLayout) extends BroadcastMode {

  override def transform(rows: Array[InternalRow]): BroadcastRelation = transform(rows.iterator, Some(rows.length))

  override def transform(rows: Iterator[InternalRow], sizeHint: Option[Long]): BroadcastRelation = {
    val limit = JoineryConf.rangeJoinMaxBroadcast
    build(rows, limit).getOrElse(new IndexTooLarge(limit))
  }

  private def build(rows: Iterator[InternalRow], limit: Long): Option[BroadcastRelation] = rows match {
    case runs: RangeRunMerge if runs.shareOnePrefix => runs.index(new DriverBuildMemory(limit))
    case indexed: PrebuiltIndex => indexed.index
    case _ =>
      val builder = new RangeIndexBuilder(layout, new DriverBuildMemory(limit))
      if (rows.forall(row => builder.add(row.asInstanceOf[UnsafeRow]))) Option(builder.result()) else None
  }

  override def canonicalized: BroadcastMode = RangeIndexBroadcastMode(layout.canonicalized)
}
