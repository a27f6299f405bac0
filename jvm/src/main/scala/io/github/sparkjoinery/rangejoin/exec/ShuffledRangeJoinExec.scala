package io.github.sparkjoinery.rangejoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.execution.joins.ShuffledJoin
import org.apache.spark.sql.execution.{ExplainUtils, SparkPlan}

import io.github.sparkjoinery.rangejoin.logical.RangeTerms
import io.github.sparkjoinery.rangejoin.runtime.ShuffledRangeTaskFactory

/**
 * Joins two sides, shuffled by their keys, on equal keys and a range. Each task indexes its rows of one side, key by
 * key, and streams its rows of the other side past the index. No side is sorted. If the rows of a task exceed its
 * memory, it indexes them part by part. It then keeps the streamed rows, and reads them once for each part
 * ([[ShuffledRangeTask]]). The generated code reads both sides as iterators, as in Spark's own shuffled joins.
 *
 * @param indexedSide
 *   the side that is indexed
 * @param terms
 *   the condition
 * @param isSkewJoin
 *   true if several tasks read one partition ([[SplitSkewedRangeJoin]])
 */
case class ShuffledRangeJoinExec(
    left: SparkPlan,
    right: SparkPlan,
    indexedSide: BuildSide,
    joinType: JoinType,
    terms: RangeTerms,
    isSkewJoin: Boolean = false) extends ShuffledJoin with ShuffledRangeCodegen {

  override def nodeName: String = "ShuffledRangeJoin"
  override def leftKeys: Seq[Expression] = if (indexedSide == BuildRight) terms.streamedKeys else terms.indexedKeys
  override def rightKeys: Seq[Expression] = if (indexedSide == BuildRight) terms.indexedKeys else terms.streamedKeys
  override def condition: Option[Expression] = terms.residual

  // The output has no order, because a task may go over the streamed rows several times.
  override def outputOrdering: Seq[SortOrder] = Nil

  override lazy val metrics = searchMetrics

  protected def taskFactory: ShuffledRangeTaskFactory =
    ShuffledRangeTaskFactory(rangeJoin, terms.layout(indexed.output, rangeJoin.givesOutIndexed))

  override protected def doExecute(): RDD[InternalRow] = {
    val factory = taskFactory
    streamedSide.execute().zipPartitions(indexed.execute()) { (streamedRows, indexedRows) =>
      factory.rows(streamedRows, indexedRows)
    }
  }

  override def inputRDDs(): Seq[RDD[InternalRow]] = Seq(streamedSide.execute(), indexed.execute())

  override def stringArgs: Iterator[Any] = shownTerms
  override def simpleStringWithNodeId(): String = s"$nodeName $joinType (${ExplainUtils.getOpId(this)})"
  override def verboseStringWithOperatorId(): String = describe

  override protected def withNewChildrenInternal(newLeft: SparkPlan, newRight: SparkPlan): ShuffledRangeJoinExec =
    copy(left = newLeft, right = newRight)
}
