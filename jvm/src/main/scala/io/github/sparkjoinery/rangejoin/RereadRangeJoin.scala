package io.github.sparkjoinery.rangejoin

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.optimizer.BuildRight
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.joinery.BesideAllPartitions

/**
 * What a broadcast range join does when its index proves too large to broadcast: each task reads the whole of one side
 * again, as in Spark's Cartesian product, indexes it part by part within its own memory, and searches each part for its
 * rows of the other side, which it keeps. So no row has to be on the driver, and none is shuffled.
 *
 * A task knows of its own rows only whether they have a match. Where the join gives out indexed rows for what they are,
 * the sides change their parts; a full outer join does one after the other.
 */
private[rangejoin] class RereadRangeJoin(join: RangeJoin) {

  def rows(streamed: RDD[InternalRow], indexed: RDD[InternalRow]): RDD[InternalRow] = join.joinType match {
    case FullOuter =>
      val keepsStreamed = if (join.indexedSide == BuildRight) LeftOuter else RightOuter
      pieces(join.copy(joinType = keepsStreamed), streamed, indexed).union(unmatchedIndexed(streamed, indexed))
    case _ if join.givesOutIndexed => pieces(join.reversed, indexed, streamed)
    case _ => pieces(join, streamed, indexed)
  }

  private def pieces(join: RangeJoin, streamed: RDD[InternalRow], indexed: RDD[InternalRow]): RDD[InternalRow] = {
    val tasks = tasksOf(join)
    BesideAllPartitions(streamed, indexed)((streamedRows, indexedRows) => tasks.rows(streamedRows, indexedRows))
  }

  private def tasksOf(join: RangeJoin): ShuffledRangeTasks =
    ShuffledRangeTasks(join, join.terms.layout(join.indexed, keepsAll = false), isRereading = true)

  /** Indexed rows without a match, beside NULLs. */
  private def unmatchedIndexed(streamed: RDD[InternalRow], indexed: RDD[InternalRow]): RDD[InternalRow] = {
    val (full, unmatched) = (join, join.reversed.unmatchedOnly)
    val tasks = tasksOf(unmatched)
    BesideAllPartitions(indexed, streamed) { (indexedRows, streamedRows) =>
      val output = new RangeJoinOutput(full)
      output.given(tasks.rows(indexedRows, streamedRows).map(output.unmatchedIndexed))
    }
  }
}
