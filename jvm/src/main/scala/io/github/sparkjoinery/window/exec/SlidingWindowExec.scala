package io.github.sparkjoinery.window.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.metric.SQLMetrics

import io.github.sparkjoinery.planning.explain.ReportedOperator
import io.github.sparkjoinery.window.logical.program.{BoundSettings, WindowProgramFactory}
import io.github.sparkjoinery.window.runtime.frames.ResultRow
import io.github.sparkjoinery.window.runtime.{WindowMetrics, WindowTask, WindowTaskFactory}

/**
 * Computes window functions over any frame in constant amortised time per row. It replaces Spark's window operator and
 * the sort below it. Rows that do not come sorted are grouped and sorted in memory, or by Spark's external sort if
 * memory runs out.
 *
 * [[WindowTask]] runs in the tasks; the algorithms are in `kernels`. (Article 2: OpenMLDB's native window.)
 *
 * @param windowExpression
 *   the same as in Spark's `WindowExec`
 */
case class SlidingWindowExec(
    windowExpression: Seq[NamedExpression],
    partitionSpec: Seq[Expression],
    orderSpec: Seq[SortOrder],
    child: SparkPlan)
  extends UnaryExecNode with BlockingOperatorWithCodegen with ReportedOperator {

  override def reportedAs: String = "window"
  override def usualReason: String = "a moving frame"

  override def nodeName: String = "SlidingWindow"
  override def output: Seq[Attribute] = child.output ++ windowExpression.map(_.toAttribute)
  override def producedAttributes: AttributeSet = AttributeSet(windowExpression.map(_.toAttribute))
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = if (isSorted) child.outputOrdering else sortOrder
  override def requiredChildDistribution: Seq[Distribution] =
    Seq(if (partitionSpec.isEmpty) AllTuples else ClusteredDistribution(partitionSpec))

  private def sortOrder: Seq[SortOrder] = partitionSpec.map(SortOrder(_, Ascending)) ++ orderSpec

  /** True if the child's rows come sorted, for example from another window over the same keys. */
  private def isSorted: Boolean = sortOrder.nonEmpty && SortOrder.orderingSatisfies(child.outputOrdering, sortOrder)

  override lazy val metrics = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"),
    "sortTime" -> SQLMetrics.createTimingMetric(sparkContext, "sort time"),
    "spillSize" -> SQLMetrics.createSizeMetric(sparkContext, "spill size")
  )

  @transient private lazy val functions: Seq[WindowExpression] =
    windowExpression.flatMap(_.collect { case window: WindowExpression => window }).distinct

  /** The columns that the node adds, over the child's output followed by the functions' results. */
  private def added: Seq[Expression] = {
    val results = functions.zipWithIndex.map { case (function, i) =>
      (function: Expression) -> BoundReference(child.output.length + i, function.dataType, function.nullable)
    }.toMap
    windowExpression.map(_.transform { case function: WindowExpression => results(function) })
  }

  private def newTask: WindowTaskFactory = WindowTaskFactory(
    WindowProgramFactory(orderSpec, functions, BoundSettings.ofTasks),
    partitionSpec,
    orderSpec,
    child.output,
    WindowMetrics(longMetric("sortTime"), longMetric("spillSize"))
  )

  override protected def doExecute(): RDD[InternalRow] = {
    val (factory, columns, numOutputRows) = (newTask, child.output, longMetric("numOutputRows"))
    val (projected, sorted) = (columns ++ added, isSorted)
    child.execute().mapPartitions { rows =>
      val task = factory.create()
      if (sorted) task.begin(rows)
      else {
        rows.foreach(row => task.insert(row.asInstanceOf[UnsafeRow]))
        task.finish()
      }
      val project = UnsafeProjection.create(projected, columns)
      val joined = new JoinedRow
      new Iterator[InternalRow] {
        private var isAhead = false
        override def hasNext: Boolean = { if (!isAhead) isAhead = task.next(); isAhead }
        override def next(): InternalRow = {
          if (!hasNext) throw new NoSuchElementException
          isAhead = false
          numOutputRows += 1
          project(joined(task.row, task.results))
        }
      }
    }
  }

  override def usedInputs: AttributeSet = AttributeSet.empty

  override def inputRDDs(): Seq[RDD[InternalRow]] = child.asInstanceOf[CodegenSupport].inputRDDs()

  // Sorted rows are best read by an iterator, one partition after the other.
  override def supportCodegen: Boolean = !isSorted

  private var taskTerm: String = _

  override protected def doProduce(ctx: CodegenContext): String = {
    val factory = ctx.addReferenceObj("window", newTask, classOf[WindowTaskFactory].getName)
    taskTerm = ctx.addMutableState(
      classOf[WindowTask].getName,
      "windowTask",
      term => s"$term = $factory.create();",
      forceInline = true)
    val isTaken = ctx.addMutableState(CodeGenerator.JAVA_BOOLEAN, "rowsTaken")
    val takeRows = ctx.freshName("takeRows")
    val takeRowsCall = ctx.addNewFunction(
      takeRows,
      s"""
      private void $takeRows(int partitionIndex) throws java.io.IOException {
        ${child.asInstanceOf[CodegenSupport].produce(ctx, this)}
      }"""
    )

    val (row, results) = (ctx.freshName("row"), ctx.freshName("results"))
    def columns(from: String, expressions: Seq[Expression]): Seq[ExprCode] = {
      ctx.currentVars = null
      ctx.INPUT_ROW = from
      expressions.map(_.genCode(ctx))
    }
    val childColumns = columns(
      row,
      child.output.zipWithIndex.map { case (column, i) => BoundReference(i, column.dataType, column.nullable) })
    val resultColumns = columns(
      results,
      added.map(_.transform {
        case BoundReference(i, dataType, nullable) if i >= child.output.length =>
          BoundReference(i - child.output.length, dataType, nullable)
      })
    )
    s"""
      if (!$isTaken) {
        $takeRowsCall(partitionIndex);
        $taskTerm.finish();
        $isTaken = true;
      }
      while ($limitNotReachedCond $taskTerm.next()) {
        UnsafeRow $row = $taskTerm.row();
        ${classOf[ResultRow].getName} $results = $taskTerm.results();
        ${metricTerm(ctx, "numOutputRows")}.add(1);
        ${consume(ctx, childColumns ++ resultColumns)}
        if (shouldStop()) return;
      }"""
  }

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = s"""
    ${row.code}
    $taskTerm.insert((UnsafeRow) ${row.value});"""

  override protected def withNewChildInternal(newChild: SparkPlan): SlidingWindowExec = copy(child = newChild)
}
