package io.github.sparkjoinery.lastjoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.SQLMetrics

import io.github.sparkjoinery.execution.rows.GroupedRowsReader
import io.github.sparkjoinery.lastjoin.logical.LastJoinTerms
import io.github.sparkjoinery.lastjoin.runtime.{ShuffledHashTask, ShuffledHashTaskFactory}

/**
 * LAST JOIN of two sides shuffled by key. Each task groups its right rows by key, sorts the rows of each key, and
 * streams its left rows. Right rows often arrive sorted; nothing else is sorted. The left side keeps its partitioning
 * and order. A task whose right rows do not fit into memory continues as a sort-merge join that spills
 * ([[ShuffledHashTask]]).
 *
 * @param terms
 *   ON and ORDER BY
 * @param isSplit
 *   true if several tasks read a skewed partition, so that rows of one key are in several tasks
 */
case class ShuffledHashLastJoinExec(
    left: SparkPlan,
    right: SparkPlan,
    terms: LastJoinTerms,
    isSplit: Boolean = false) extends ShuffledLastJoinExec with GroupedRowsCodegen {

  override def nodeName: String = "ShuffledHashLastJoin"

  override lazy val metrics = commonMetrics ++ Map(
    "rowsBuilt" -> SQLMetrics.createMetric(sparkContext, "right rows built"),
    "distinctKeys" -> SQLMetrics.createMetric(sparkContext, "distinct keys"),
    "buildTime" -> SQLMetrics.createTimingMetric(sparkContext, "time to build"),
    "buildSize" -> SQLMetrics.createSizeMetric(sparkContext, "data size of build side"),
    "spillSize" -> SQLMetrics.createSizeMetric(sparkContext, "spill size")
  )

  override protected def taskFactory: ShuffledHashTaskFactory =
    ShuffledHashTaskFactory(terms, left.output, right.output, left.outputOrdering, metrics)
  override protected def taskClass: Class[ShuffledHashTask] = classOf[ShuffledHashTask]

  override protected def doExecute(): RDD[InternalRow] = {
    val (factory, join) = (taskFactory, joinedRows)
    left.execute().zipPartitions(right.execute()) { (leftRows, rightRows) =>
      val task = factory.start(leftRows, rightRows)
      join(task)(if (factory.terms.hasConditions && !task.isSpilled) task.lastPassing else _ => task.matched)
    }
  }

  override protected def matchCode(
      ctx: CodegenContext,
      leftVars: Seq[ExprCode],
      task: String,
      matched: String): String = {
    if (!terms.hasConditions) return s"$matched = (UnsafeRow) $task.matched();"
    val reader = ctx.addMutableState(
      classOf[GroupedRowsReader].getName,
      "reader",
      name => s"$name = $task.reader();",
      forceInline = true)
    val place = ctx.freshName("place")
    val conditions = AttributeSet((terms.within ++ terms.residual).flatMap(_.references))
    val evaluated =
      evaluateRequiredVariables(left.output, leftVars, conditions) // outside of the braces: also for later code
    s"""
       |$evaluated
       |if ($task.isSpilled()) {
       |  $matched = (UnsafeRow) $task.matched();
       |} else {
       |  int $place = $task.last();
       |  ${candidatesCode(ctx, leftVars, reader, matched, s"$task.first()", place)}
       |}
       |""".stripMargin
  }

  override def withSplit(left: SparkPlan, right: SparkPlan): ShuffledHashLastJoinExec =
    copy(left = left, right = right, isSplit = true)

  override protected def withNewChildrenInternal(newLeft: SparkPlan, newRight: SparkPlan): ShuffledHashLastJoinExec =
    copy(left = newLeft, right = newRight)
}
