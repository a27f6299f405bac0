package io.github.sparkjoinery.rangejoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.optimizer.BuildRight
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.joinery.CartesianStreamRDD

import io.github.sparkjoinery.rangejoin.runtime.{RangeJoin, RangeJoinOutput, ShuffledRangeTaskFactory}

/**
 * Runs a broadcast range join whose index is too large to broadcast. Each task reads the whole of one side again, as in
 * Spark's Cartesian product, and indexes it part by part within its own memory. It keeps its rows of the other side and
 * searches each part for them. No row has to be on the driver, and none is shuffled.
 *
 * A task can tell for its own rows alone if they have a match. If the join preserves the indexed side, the two sides
 * swap roles. A full outer join runs both ways, one after the other.
 */
private[rangejoin] class CartesianRangeJoin(join: RangeJoin) {

  def rows(streamed: RDD[InternalRow], indexed: RDD[InternalRow]): RDD[InternalRow] = join.joinType match {
    case FullOuter =>
      val keepsStreamed = if (join.indexedSide == BuildRight) LeftOuter else RightOuter
      pieces(join.copy(joinType = keepsStreamed), streamed, indexed).union(unmatchedIndexed(streamed, indexed))
    case _ if join.givesOutIndexed => pieces(join.reversed, indexed, streamed)
    case _ => pieces(join, streamed, indexed)
  }

  private def pieces(join: RangeJoin, streamed: RDD[InternalRow], indexed: RDD[InternalRow]): RDD[InternalRow] = {
    val factory = factoryFor(join)
    CartesianStreamRDD(streamed, indexed)((streamedRows, indexedRows) => factory.rows(streamedRows, indexedRows))
  }

  private def factoryFor(join: RangeJoin): ShuffledRangeTaskFactory =
    ShuffledRangeTaskFactory(join, join.terms.layout(join.indexed, keepsAll = false), isRereading = true)

  /** Emits the indexed rows without a match, with NULLs for the stream side. */
  private def unmatchedIndexed(streamed: RDD[InternalRow], indexed: RDD[InternalRow]): RDD[InternalRow] = {
    val (full, unmatched) = (join, join.reversed.unmatchedOnly)
    val factory = factoryFor(unmatched)
    CartesianStreamRDD(indexed, streamed) { (indexedRows, streamedRows) =>
      val output = new RangeJoinOutput(full)
      output.given(factory.rows(indexedRows, streamedRows).map(output.unmatchedIndexed))
    }
  }
}
