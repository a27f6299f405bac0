package io.github.sparkjoinery.window

import org.apache.spark.SparkException
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.metric.SQLMetrics

import io.github.sparkjoinery.execution.CodeByTaskNumber
import io.github.sparkjoinery.execution.skew.ShuffleReads
import io.github.sparkjoinery.planning.ReportedOperator
import io.github.sparkjoinery.window.frames.ResultRow
import io.github.sparkjoinery.window.parts.{
  CutAtRead,
  CutAtWrite,
  KeyCuts,
  KeyPart,
  SplitTerms,
  TaskParts,
  WindowCuts,
  WindowPartsExec
}
import io.github.sparkjoinery.window.program.{BoundSettings, ShippedPrograms}

/**
 * Computes window functions over any frame in constant amortised time per row. It replaces Spark's window operator and
 * the sort below it. Rows that do not come sorted are grouped and sorted in memory, or by Spark's external sort if
 * memory runs out.
 *
 * [[WindowTask]] runs in the tasks; the algorithms are in `kernels`. (Article 2: OpenMLDB's native window.)
 *
 * @param windowExpression
 *   the same as in Spark's `WindowExec`
 * @param parts
 *   the number of parts per hot key that a hint asks for; 1: do not split
 * @param cuts
 *   the cuts of hot keys, which are computed in parts
 * @param reads
 *   the partition spec of each task that the child reported last
 */
case class SlidingWindowExec(
    windowExpression: Seq[NamedExpression],
    partitionSpec: Seq[Expression],
    orderSpec: Seq[SortOrder],
    child: SparkPlan,
    parts: Option[Int] = None,
    cuts: Option[WindowCuts] = None,
    reads: Option[Seq[ShufflePartitionSpec]] = None)
  extends UnaryExecNode with BlockingOperatorWithCodegen with CodeByTaskNumber with ReportedOperator {

  override def reportedAs: String = "window"
  override def usualReason: String = "a moving frame"

  override def nodeName: String = "SlidingWindow"
  override protected def stringArgs: Iterator[Any] = Iterator(windowExpression, partitionSpec, orderSpec, parts, cuts)
  override def output: Seq[Attribute] = child.output ++ windowExpression.map(_.toAttribute)
  override def producedAttributes: AttributeSet = AttributeSet(windowExpression.map(_.toAttribute))
  override def outputPartitioning: Partitioning = cuts match {
    case Some(_: CutAtRead) => UnknownPartitioning(child.outputPartitioning.numPartitions)
    case _ => child.outputPartitioning
  }
  override def outputOrdering: Seq[SortOrder] = if (isSorted) child.outputOrdering else sortOrder
  override def requiredChildDistribution: Seq[Distribution] = Seq(cuts match {
    case Some(cut: CutAtWrite) => ClusteredDistribution(Seq(cut.part))
    case Some(_) => UnspecifiedDistribution
    case None => if (partitionSpec.isEmpty) AllTuples else ClusteredDistribution(partitionSpec)
  })

  private def sortOrder: Seq[SortOrder] = partitionSpec.map(SortOrder(_, Ascending)) ++ orderSpec

  /** True if the child's rows come sorted, for example from another window over the same keys. */
  private def isSorted: Boolean = sortOrder.nonEmpty && SortOrder.orderingSatisfies(child.outputOrdering, sortOrder)

  override lazy val metrics = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"),
    "sortTime" -> SQLMetrics.createTimingMetric(sparkContext, "sort time"),
    "spillSize" -> SQLMetrics.createSizeMetric(sparkContext, "spill size"),
    "splitParts" -> SQLMetrics.createMetric(sparkContext, "split parts"),
    "hotKeys" -> SQLMetrics.createMetric(sparkContext, "hot keys"),
    "uncutKeys" -> SQLMetrics.createMetric(sparkContext, "hot keys not cut: on one value"),
    "haloRows" -> SQLMetrics.createMetric(sparkContext, "halo rows")
  )

  /** Returns the terms for splitting hot keys, or the reason why the window cannot be split. */
  def splitTerms: Either[String, SplitTerms] = SplitTerms.of(partitionSpec, orderSpec, functions)

  @transient private lazy val functions: Seq[WindowExpression] =
    windowExpression.flatMap(_.collect { case window: WindowExpression => window }).distinct

  /** The columns that the node adds, over the child's output followed by the functions' results. */
  private def added: Seq[Expression] = {
    val results = functions.zipWithIndex.map { case (function, i) =>
      (function: Expression) -> BoundReference(child.output.length + i, function.dataType, function.nullable)
    }.toMap
    windowExpression.map(_.transform { case function: WindowExpression => results(function) })
  }

  /** @param tasks the number of tasks */
  private def newTask(tasks: Int): WindowTaskFactory = {
    val (keys, parts, isCut) = cuts match {
      case None => (partitionSpec, None, false)
      case Some(cut: CutAtWrite) =>
        val written = WindowPartsExec.behind(child).fold(cut)(_.cuts)
        report(written.hotKeys.values.map(_.cuts))
        val parts = written.taskParts
        if (parts.isEmpty) (partitionSpec, None, false)
        else (partitionSpec :+ cut.part, Some((cut.termsOfParts, (_: Int) => parts)), true)
      case Some(cut: CutAtRead) =>
        val parts = partsOfReaders(cut, tasks)
        (partitionSpec, Some((cut.terms, parts(_))), parts.exists(_.exists(_.hot.nonEmpty)))
      case Some(other) => throw SparkException.internalError(s"a window cut by $other")
    }
    val settings = cuts.filter(_ => isCut).fold(BoundSettings.ofTasks)(_.terms.settings)
    WindowTaskFactory(
      ShippedPrograms(orderSpec, functions, settings, areFixed = isCut),
      keys,
      orderSpec,
      child.output,
      WindowMetrics(longMetric("sortTime"), longMetric("spillSize"), longMetric("haloRows")),
      parts
    )
  }

  /** Returns the part of each task. Tasks that read the same partition compute one part each. */
  private def partsOfReaders(cut: CutAtRead, tasks: Int): Array[Option[TaskParts]] = {
    val specs =
      ShuffleReads.ofTasks("A window", child, reads, tasks, "spark.joinery.slidingWindow.skewSplit.atRead.enabled")
    val readings = specs.groupBy(identity).collect {
      case (CoalescedPartitionSpec(i, _, _), same) if same.length > 1 => i -> same.length
    }
    val hotKeys = cut.of(readings)
    report(hotKeys.values.flatMap(_.values))
    specs.zipWithIndex.map {
      case (CoalescedPartitionSpec(partition, end, _), i) if end == partition + 1 && hotKeys.contains(partition) =>
        val number = i - specs.indexWhere { case CoalescedPartitionSpec(`partition`, _, _) => true; case _ => false }
        val hot = hotKeys(partition).collect { case (hash, key) if key.times.nonEmpty => hash -> KeyPart(number, key) }
        Some(TaskParts(hot, share = Some((number, readings(partition)))))
      case _ => None
    }.toArray
  }

  private def report(hotKeys: Iterable[KeyCuts]): Unit = {
    val counts = Map(
      "hotKeys" -> hotKeys.size,
      "uncutKeys" -> hotKeys.count(_.times.isEmpty),
      "splitParts" -> hotKeys.filter(_.times.nonEmpty).map(_.times.length + 1).sum)
    counts.foreach { case (name, count) => longMetric(name).set(count) }
    SQLMetrics.postDriverMetricUpdates(
      sparkContext,
      sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY),
      counts.keys.toSeq.map(longMetric))
  }

  override protected def doExecute(): RDD[InternalRow] = {
    val input = child.execute()
    val (factory, columns, numOutputRows) =
      (newTask(input.getNumPartitions), child.output, longMetric("numOutputRows"))
    val (projected, sorted) = (columns ++ added, isSorted)
    input.mapPartitionsWithIndex { (number, rows) =>
      val task = factory.create(number)
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
    val factory =
      ctx.addReferenceObj("window", newTask(inputRDDs().head.getNumPartitions), classOf[WindowTaskFactory].getName)
    taskTerm = ctx.addMutableState(
      classOf[WindowTask].getName,
      "windowTask",
      term => s"$term = $factory.create(partitionIndex);",
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

  override protected def doCanonicalize(): SparkPlan =
    super.doCanonicalize().asInstanceOf[SlidingWindowExec].copy(cuts = cuts.map {
      case cut: CutAtWrite => cut.canonicalized(child.output)
      case other => other
    })

  override protected def withNewChildInternal(newChild: SparkPlan): SlidingWindowExec = cuts match {
    case Some(_: CutAtRead) => copy(child = newChild, reads = ShuffleReads.remembered(newChild, child, reads))
    case _ => copy(child = newChild)
  }
}
