package io.github.sparkjoinery.lastjoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution.SparkPlan

import io.github.sparkjoinery.execution.ChildrenInOwnStages
import io.github.sparkjoinery.lastjoin.runtime.{LastJoinTask, LastJoinTaskFactory}
import io.github.sparkjoinery.planning.plans.ShuffledLeftOuterLike

/**
 * Base of the two forms that shuffle both sides: their distribution, and generated code that reads both sides as
 * iterators. The code of the sides is not fused with the join's, as in Spark's own shuffled joins; [[CodegenBoundary]]
 * ensures it.
 */
trait ShuffledLastJoinExec extends ShuffledLeftOuterLike with LastJoinExec with ChildrenInOwnStages {

  override def leftKeys: Seq[Expression] = terms.leftKeys
  override def rightKeys: Seq[Expression] = terms.rightKeys

  /** True if several tasks read a skewed partition, so that rows of one key are in several tasks. */
  def isSplit: Boolean

  /** Returns this join over children in which several tasks read one partition. */
  def withSplit(left: SparkPlan, right: SparkPlan): ShuffledLastJoinExec

  override def output: Seq[Attribute] = left.output ++ right.output.map(_.withNullability(true))

  override def requiredChildDistribution: Seq[Distribution] =
    if (isSplit) Seq(UnspecifiedDistribution, UnspecifiedDistribution)
    else if (terms.leftKeys.isEmpty) Seq(AllTuples, AllTuples)
    else Seq(ClusteredDistribution(terms.leftKeys), ClusteredDistribution(terms.rightKeys))

  override def outputPartitioning: Partitioning = left.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = left.outputOrdering

  override def supportCodegen: Boolean = true
  override def needCopyResult: Boolean = false
  override protected def canCheckLimitNotReached: Boolean = true
  override def inputRDDs(): Seq[RDD[InternalRow]] = Seq(left.execute(), right.execute())

  /** The factory that is sent to the executors. */
  protected def taskFactory: LastJoinTaskFactory
  protected def taskClass: Class[_ <: LastJoinTask]

  /**
   * Code that finds the match of the current left row.
   *
   * @param task
   *   name of the task
   * @param matched
   *   name of the variable to set; it is null before
   */
  protected def matchCode(ctx: CodegenContext, leftVars: Seq[ExprCode], task: String, matched: String): String

  override protected def doProduce(ctx: CodegenContext): String = {
    val factory = ctx.addReferenceObj("lastJoin", taskFactory)
    val task = ctx.addMutableState(
      taskClass.getName,
      "task",
      name =>
        s"$name = (${taskClass.getName}) $factory.start(inputs[0], inputs[1]);",
      forceInline = true)
    val leftRow = ctx.freshName("leftRow")
    ctx.INPUT_ROW = leftRow
    ctx.currentVars = null
    val leftVars = left.output.zipWithIndex.map { case (attribute, i) =>
      BoundReference(i, attribute.dataType, attribute.nullable).genCode(ctx)
    }
    val matched = ctx.freshName("matched")
    val found = matchCode(ctx, leftVars, task, matched)
    s"""
       |while ($limitNotReachedCond $task.hasNext()) {
       |  UnsafeRow $leftRow = (UnsafeRow) $task.next();
       |  UnsafeRow $matched = null;
       |  $found
       |  ${consumeMatch(ctx, leftVars, matched)}
       |  if (shouldStop()) return;
       |}
       |""".stripMargin
  }

  override protected def stringArgs: Iterator[Any] = shownTerms
  override def verboseStringWithOperatorId(): String = describe
}
