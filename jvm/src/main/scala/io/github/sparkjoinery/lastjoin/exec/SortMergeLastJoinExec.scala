package io.github.sparkjoinery.lastjoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.SQLMetrics

import io.github.sparkjoinery.lastjoin.logical.LastJoinTerms
import io.github.sparkjoinery.lastjoin.runtime.{SortMergeTask, SortMergeTaskFactory}

/**
 * LAST JOIN of two sorted sides in one pass over each; without keys, in one partition. The left side keeps its
 * partitioning and order. The memory per key depends on the conditions of ON other than keys:
 *   - none: one row
 *   - an as-of comparison (`r.ts <= l.ts`), with or without a tolerance: one row, because the left side is sorted by
 *     time, too
 *   - anything else: the key's right rows, in a buffer that spills
 *
 * @param terms
 *   ON and ORDER BY
 * @param isSplit
 *   true if several tasks read a skewed partition, so that rows of one key are in several tasks
 */
case class SortMergeLastJoinExec(
    left: SparkPlan,
    right: SparkPlan,
    terms: LastJoinTerms,
    isSplit: Boolean = false) extends ShuffledLastJoinExec {

  override def nodeName: String = "SortMergeLastJoin"

  override lazy val metrics = commonMetrics +
    ("spillSize" -> SQLMetrics.createSizeMetric(sparkContext, "spill size"))

  override def requiredChildOrdering: Seq[Seq[SortOrder]] = Seq(terms.leftSort, terms.rightSort)

  override protected def taskFactory: SortMergeTaskFactory =
    SortMergeTaskFactory(terms, left.output, right.output, metrics)
  override protected def taskClass: Class[SortMergeTask] = classOf[SortMergeTask]

  override protected def doExecute(): RDD[InternalRow] = {
    val (factory, join) = (taskFactory, joinedRows)
    left.execute().zipPartitions(right.execute()) { (leftRows, rightRows) =>
      val task = factory.start(leftRows, rightRows)
      join(task)(_ => task.matched)
    }
  }

  override protected def matchCode(
      ctx: CodegenContext,
      leftVars: Seq[ExprCode],
      task: String,
      matched: String): String =
    s"$matched = (UnsafeRow) $task.matched();"

  override def withSplit(left: SparkPlan, right: SparkPlan): SortMergeLastJoinExec =
    copy(left = left, right = right, isSplit = true)

  override protected def withNewChildrenInternal(newLeft: SparkPlan, newRight: SparkPlan): SortMergeLastJoinExec =
    copy(left = newLeft, right = newRight)
}
