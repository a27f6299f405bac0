package io.github.sparkjoinery.lastjoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.optimizer.BuildRight
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.BroadcastNestedLoopJoinExec

import io.github.sparkjoinery.execution.BroadcastJoinFrame
import io.github.sparkjoinery.execution.rows.{GroupedRows, GroupedRowsReader, TimeOrder}
import io.github.sparkjoinery.lastjoin.logical.LastJoinTerms
import io.github.sparkjoinery.lastjoin.runtime.GroupedRowsSearch

/**
 * LAST JOIN with a broadcast right side, grouped by key and sorted ([[GroupedRowsBroadcastMode]]). Each left row finds
 * its candidates by hash and binary search, and tests them from the last backwards. The left side is streamed and keeps
 * its partitioning and order. Memory: the right side once per executor, within Spark's broadcast limits.
 *
 * @param terms
 *   ON and ORDER BY
 */
class BroadcastLastJoinExec(
    left: SparkPlan,
    right: SparkPlan,
    override val terms: LastJoinTerms)
  extends BroadcastNestedLoopJoinExec(left, right, BuildRight, LeftOuter, terms.residual)
  with BroadcastJoinFrame with LastJoinExec with GroupedRowsCodegen {

  override protected def arguments: Seq[Any] = Seq(left, right, terms)
  override def productPrefix: String = "BroadcastLastJoin"
  override protected def streamedSide: SparkPlan = left

  override def leftKeys: Seq[Expression] = terms.leftKeys
  override def rightKeys: Seq[Expression] = terms.rightKeys

  override lazy val metrics = commonMetrics

  override def requiredChildDistribution: Seq[Distribution] =
    Seq(UnspecifiedDistribution, BroadcastDistribution(GroupedRowsBroadcastMode(terms.grouping(right.output))))

  override def output: Seq[Attribute] = left.output ++ right.output.map(_.withNullability(true))

  override protected def doExecute(): RDD[InternalRow] = {
    val relation = right.executeBroadcast[GroupedRows]()
    val (terms, leftOutput, rightOutput, tried) = (this.terms, left.output, right.output, longMetric("candidatesTried"))
    val join = joinedRows
    left.execute().mapPartitions { leftRows =>
      val search = new GroupedRowsSearch(relation.value, terms, leftOutput, rightOutput, tried)
      join(leftRows)(search.lastMatch)
    }
  }

  override def doConsume(ctx: CodegenContext, leftVars: Seq[ExprCode], row: ExprCode): String = {
    val relation = ctx.addReferenceObj("relation", right.executeBroadcast[GroupedRows]())
    val timeOrder = ctx.addReferenceObj("timeOrder", terms.timeOrder(right.output).orNull, classOf[TimeOrder].getName)
    val readerClass = classOf[GroupedRowsReader].getName
    val reader = ctx.addMutableState(
      readerClass,
      "reader",
      name =>
        s"$name = ((${classOf[GroupedRows].getName}) $relation.value()).reader($timeOrder);",
      forceInline = true)
    val matched = ctx.freshName("matched")
    val searched = evaluateSearched(leftVars)
    s"""
       |$searched
       |UnsafeRow $matched = null;
       |${searchCode(ctx, leftVars, reader, matched)}
       |${consumeMatch(ctx, leftVars, matched)}
       |""".stripMargin
  }

  override protected def stringArgs: Iterator[Any] = shownTerms
  override def verboseStringWithOperatorId(): String = describe

  override protected def withNewChildrenInternal(newLeft: SparkPlan, newRight: SparkPlan): BroadcastLastJoinExec =
    new BroadcastLastJoinExec(newLeft, newRight, terms)
}
