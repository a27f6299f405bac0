package io.github.sparkjoinery.rangejoin.exec

import scala.annotation.tailrec

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.optimizer.{BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive.QueryStageExec
import org.apache.spark.sql.execution.exchange.{BroadcastExchangeLike, ReusedExchangeExec}
import org.apache.spark.sql.execution.joinery.BroadcastRelation
import org.apache.spark.sql.execution.joins.BroadcastNestedLoopJoinExec
import org.apache.spark.sql.execution.metric.SQLMetrics

import io.github.sparkjoinery.execution.BroadcastJoinFrame
import io.github.sparkjoinery.rangejoin.logical.{RangeJoinType, RangeTerms}
import io.github.sparkjoinery.rangejoin.runtime.index.{RangeIndex, SearchableRelation}

/**
 * Joins points and intervals, with one side broadcast as a [[RangeIndex]]. Each row of the other side finds its
 * candidates by binary search. The other side is streamed, and keeps its partitioning and order.
 *
 * If the join preserves the indexed side, a pass over the stream side finds which indexed rows have a match. Outer
 * joins read the stream side for the matches as well: see [[PreservedSidePasses]].
 *
 * Memory: the index, once per executor, within `spark.joinery.rangeJoin.maxBroadcast`. For larger indexes see
 * [[CartesianRangeJoin]].
 *
 * @param indexedSide
 *   the side that is indexed and broadcast
 * @param terms
 *   the condition
 */
class BroadcastRangeJoinExec(
    left: SparkPlan,
    right: SparkPlan,
    val indexedSide: BuildSide,
    joinType: JoinType,
    val terms: RangeTerms)
  extends BroadcastNestedLoopJoinExec(left, right, indexedSide, joinType, terms.residual)
  with BroadcastJoinFrame with RangeJoinExec with RangeJoinCodegen {

  override protected def arguments: Seq[Any] = Seq(left, right, indexedSide, joinType, terms)
  override def productPrefix: String = "BroadcastRangeJoin"

  override lazy val metrics = searchMetrics

  override def requiredChildDistribution: Seq[Distribution] = {
    val layout = terms.layout(indexed.output, keepsAll = RangeJoinType.givesOutIndexed(joinType, indexedSide))
    val broadcast = BroadcastDistribution(RangeIndexBroadcastMode(layout))
    if (indexedSide == BuildRight) Seq(UnspecifiedDistribution, broadcast) else Seq(broadcast, UnspecifiedDistribution)
  }

  override def supportCodegen: Boolean = !RangeJoinType.givesOutIndexed(joinType, indexedSide)

  // A streamed row may be emitted several times.
  override def needCopyResult: Boolean = joinType match {
    case _: InnerLike | LeftOuter | RightOuter => true
    case _ => streamedSide.asInstanceOf[CodegenSupport].needCopyResult
  }

  /** The broadcast index, or an [[IndexTooLarge]]. */
  protected lazy val relation: Broadcast[BroadcastRelation] = {
    val relation = indexed.executeBroadcast[BroadcastRelation]()
    relation.value match {
      case searchable: SearchableRelation => tell(searchable.index)
      case tooLarge: IndexTooLarge => logWarning(
          s"The index of a range join takes more than ${tooLarge.limit} bytes, or its rows than " +
            "spark.driver.maxResultSize, and is not broadcast: each task reads the indexed side, and indexes it for itself. If the driver and every executor have the memory, raise spark.joinery.rangeJoin.maxBroadcast.")
    }
    relation
  }

  /** The broadcast index. Valid only if it is not too large. */
  protected def searchable: Broadcast[SearchableRelation] = relation.asInstanceOf[Broadcast[SearchableRelation]]

  protected def tooLarge: Option[IndexTooLarge] = relation.value match {
    case tooLarge: IndexTooLarge => Some(tooLarge)
    case _ => None
  }

  /** Posts the size and build time of the index as metrics. */
  private def tell(index: RangeIndex): Unit = {
    val own =
      Seq("indexRows" -> index.numRows.toLong, "indexSize" -> index.estimatedSize, "indexTime" -> index.buildTimeMs)
    SQLMetrics.postDriverMetricUpdates(
      sparkContext,
      sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY),
      own.map { case (name, value) =>
        longMetric(name).set(value)
        metrics(name)
      })
  }

  override protected def doExecute(): RDD[InternalRow] = {
    val join = rangeJoin
    if (tooLarge.isDefined)
      inOrder(new CartesianRangeJoin(join).rows(streamedSide.execute(), BroadcastRangeJoinExec.rowsOf(indexed)))
    else if (join.givesOutIndexed) {
      val passes = new PreservedSidePasses(this)
      val indexedRows = join.indexedRows(passes.matchedPlaces.execute(), searchable)
      if (join.givesPairs) passes.pairs.execute().union(indexedRows) else indexedRows
    } else {
      val index = searchable
      streamedSide.execute().mapPartitions(rows => join.task(index.value.index).join(rows))
    }
  }

  /**
   * Sorts the rows again, as others may rely on the order of the stream side. A join part by part does not keep that
   * order.
   */
  private def inOrder(rows: RDD[InternalRow]): RDD[InternalRow] =
    if (outputOrdering.isEmpty) rows
    else SortExec(outputOrdering, global = false, RDDScanExec(output, rows, nodeName)).execute()

  override protected def stringArgs: Iterator[Any] = shownTerms
  override def verboseStringWithOperatorId(): String = describe

  override protected def withNewChildrenInternal(newLeft: SparkPlan, newRight: SparkPlan): BroadcastRangeJoinExec =
    new BroadcastRangeJoinExec(newLeft, newRight, indexedSide, joinType, terms)
}

private object BroadcastRangeJoinExec {

  /** The rows below a broadcast. */
  @tailrec
  def rowsOf(plan: SparkPlan): RDD[InternalRow] = plan match {
    case InputAdapter(child) => rowsOf(child)
    case stage: QueryStageExec => rowsOf(stage.plan)
    case ReusedExchangeExec(_, exchange) => rowsOf(exchange)
    case exchange: BroadcastExchangeLike => exchange.child.execute()
    case other => throw new IllegalStateException(s"${other.nodeName} is no broadcast that Joinery knows")
  }
}
