package io.github.sparkjoinery.rangejoin

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.execution.joins.ShuffledJoin
import org.apache.spark.sql.execution.{ExplainUtils, SparkPlan}

/**
 * A join by equal keys and a range, of two sides shuffled by the keys: each task indexes its rows of one side, key by
 * key, and streams those of the other past them. Neither side is sorted. A task whose rows are more than its memory
 * indexes a part of them after the other, and reads the streamed rows, which it keeps, once for each part
 * ([[ShuffledRangeTask]]). As with Spark's own shuffled joins, the generated code of the operator reads both sides as
 * iterators.
 *
 * @param indexedSide
 *   the side that is indexed
 * @param terms
 *   the condition
 * @param isSkewJoin
 *   whether several tasks read one partition ([[SplitSkewedRangeJoin]])
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

  // Rows are given out in no order, as a task may go over them several times.
  override def outputOrdering: Seq[SortOrder] = Nil

  override lazy val metrics = searchMetrics

  protected def tasks: ShuffledRangeTasks =
    ShuffledRangeTasks(rangeJoin, terms.layout(indexed.output, rangeJoin.givesOutIndexed))

  override protected def doExecute(): RDD[InternalRow] = {
    val factory = tasks
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
