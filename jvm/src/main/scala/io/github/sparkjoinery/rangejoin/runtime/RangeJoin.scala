package io.github.sparkjoinery.rangejoin.runtime

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.execution.metric.SQLMetric

import io.github.sparkjoinery.rangejoin.logical.{RangeJoinType, RangeTerms}
import io.github.sparkjoinery.rangejoin.runtime.index.{RangeIndex, SearchableRelation}

/**
 * The description of a range join that is sent to the executors in place of the plan.
 *
 * @param output
 *   the columns of the join
 */
private[rangejoin] case class RangeJoin(
    joinType: JoinType,
    indexedSide: BuildSide,
    terms: RangeTerms,
    streamed: Seq[Attribute],
    indexed: Seq[Attribute],
    output: Seq[Attribute],
    metrics: Map[String, SQLMetric]) {

  /** True if the join emits a streamed row without a match, with NULLs. */
  def keepsStreamed: Boolean = joinType match {
    case FullOuter => true
    case LeftOuter => indexedSide == BuildRight
    case RightOuter => indexedSide != BuildRight
    case _ => false
  }

  /** True if the join emits indexed rows by themselves: it preserves the indexed side. */
  def givesOutIndexed: Boolean = RangeJoinType.givesOutIndexed(joinType, indexedSide)

  /** True if the join emits pairs of rows; false if it emits rows of one side. */
  def givesPairs: Boolean = joinType match {
    case LeftSemi | LeftAnti | _: ExistenceJoin => false
    case _ => true
  }

  /** The same join with the other side indexed. */
  def reversed: RangeJoin =
    copy(
      indexedSide = if (indexedSide == BuildRight) BuildLeft else BuildRight,
      terms = terms.reversed,
      streamed = indexed,
      indexed = streamed)

  /**
   * A join that emits the streamed rows without a match. They are not counted as output, because other rows are made
   * from them.
   */
  def unmatchedOnly: RangeJoin =
    copy(joinType = LeftAnti, indexedSide = BuildRight, output = streamed, metrics = metrics - RangeJoin.OutputRows)

  def task(index: RangeIndex): RangeJoinTask = new RangeJoinTask(this, index)

  /**
   * The indexed rows that the join emits by themselves. One task emits them, once each partition has reported which of
   * them match.
   *
   * @param places
   *   the [[MatchedRows]] of each partition
   */
  def indexedRows(places: RDD[InternalRow], relation: Broadcast[SearchableRelation]): RDD[InternalRow] =
    places.map(_.getBinary(0)).coalesce(1, shuffle = true).mapPartitions { ofPartitions =>
      task(relation.value.index).indexedRows(MatchedRows.ofTasks(ofPartitions))
    }
}

private[rangejoin] object RangeJoin {
  val OutputRows = "numOutputRows"
}
