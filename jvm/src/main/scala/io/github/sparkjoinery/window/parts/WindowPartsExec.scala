package io.github.sparkjoinery.window.parts

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive.QueryStageExec
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.execution.metric.SQLMetrics
import org.apache.spark.sql.types.LongType

/**
 * Before the shuffle of a window whose hot keys are cut: adds the part of each row, and copies of rows for other parts
 * behind them. See [[CutAtWrite]].
 */
case class WindowPartsExec(cuts: CutAtWrite, child: SparkPlan) extends UnaryExecNode with CodegenSupport {

  override def nodeName: String = "WindowParts"
  override def output: Seq[Attribute] = child.output :+ cuts.part
  override def producedAttributes: AttributeSet = AttributeSet(cuts.part)

  override lazy val metrics = Map(
    "spillSize" -> SQLMetrics.createSizeMetric(sparkContext, "spill size"),
    "copiedRows" -> SQLMetrics.createMetric(sparkContext, "rows copied over a cut"),
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows")
  )

  private def terms: SplitTerms = cuts.terms
  private def newSender: PartSenderFactory =
    PartSenderFactory(cuts.hotKeys, terms, child.output, longMetric("spillSize"))

  override protected def doExecute(): RDD[InternalRow] = {
    val (factory, columns, labelled, splitTerms) = (newSender, child.output, output, terms)
    val (copiedRows, numOutputRows) = (longMetric("copiedRows"), longMetric("numOutputRows"))
    child.execute().mapPartitions { rows =>
      val sender = factory.create()
      val hashAndTimeOf = UnsafeProjection.create(Seq(splitTerms.time.word, splitTerms.hash), columns)
      val keyOf = UnsafeProjection.create(splitTerms.keys, columns)
      val project = UnsafeProjection.create(labelled, labelled)
      val (joined, label) = (new JoinedRow, new GenericInternalRow(1))
      def of(row: InternalRow, part: Long): InternalRow = {
        label.setLong(0, part)
        numOutputRows += 1
        project(joined(row, label))
      }
      val own = rows.flatMap { row =>
        val projected = hashAndTimeOf(row)
        val part = sender.partOf(projected.getLong(1), splitTerms.time.of(projected))
        if (part < 0) Iterator.single(of(row, projected.getLong(1) | 1))
        else {
          if (sender.isNear(keyOf(row))) sender.offer(row.asInstanceOf[UnsafeRow])
          copiedRows += sender.copies
          Iterator.single(of(row, part)) ++ Iterator.range(0, sender.copies).map(i => of(row, sender.copy(i)))
        }
      }
      val halos = Iterator.continually(sender.nextOfHalo()).takeWhile(identity).map { _ =>
        copiedRows += 1; of(sender.row, sender.part)
      }
      own ++ halos
    }
  }

  override def inputRDDs(): Seq[RDD[InternalRow]] = child.asInstanceOf[CodegenSupport].inputRDDs()
  override def usedInputs: AttributeSet = child.outputSet
  override def needCopyResult: Boolean = terms.bounds.nonEmpty || super.needCopyResult // one row may become several

  private var senderTerm: String = _

  override protected def doProduce(ctx: CodegenContext): String = {
    val factory = ctx.addReferenceObj("parts", newSender, classOf[PartSenderFactory].getName)
    senderTerm = ctx.addMutableState(
      classOf[PartSender].getName,
      "partSender",
      term => s"$term = $factory.create();",
      forceInline = true)
    val isTaken = ctx.addMutableState(CodeGenerator.JAVA_BOOLEAN, "rowsTaken")
    val input = child.asInstanceOf[CodegenSupport].produce(ctx, this)
    val row = ctx.freshName("haloRow")
    ctx.currentVars = null
    ctx.INPUT_ROW = row
    val columns = child.output.zipWithIndex.map { case (column, i) =>
      BoundReference(i, column.dataType, column.nullable).genCode(ctx)
    }
    s"""
      if (!$isTaken) {
        $input
        $isTaken = true;
      }
      while ($senderTerm.nextOfHalo()) {
        UnsafeRow $row = $senderTerm.row();
        ${metricTerm(ctx, "copiedRows")}.add(1);
        ${metricTerm(ctx, "numOutputRows")}.add(1);
        ${consume(ctx, columns :+ part(s"$senderTerm.part()"))}
        if (shouldStop()) return;
      }"""
  }

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    ctx.currentVars = input
    ctx.INPUT_ROW = null
    def bound(expression: Expression): Expression = BindReferences.bindReference(expression, child.output)
    val hash = bound(terms.hash).genCode(ctx)
    val time = bound(terms.time.word).genCode(ctx)
    val fields = child.output.zipWithIndex.map { case (column, i) =>
      BoundReference(i, column.dataType, column.nullable)
    }
    val (number, copies, i) = (ctx.freshName("part"), ctx.freshName("copies"), ctx.freshName("i"))
    val offer = if (terms.rowsBefore + terms.rowsAfter == 0) ""
    else {
      val key =
        GenerateUnsafeProjection.createCode(ctx, if (terms.keys.isEmpty) Seq(Literal(0)) else terms.keys.map(bound))
      val whole = GenerateUnsafeProjection.createCode(ctx, fields)
      s"""
        ${key.code}
        if ($senderTerm.isNear(${key.value})) {
          ${whole.code}
          $senderTerm.offer(${whole.value});
        }"""
    }
    ctx.currentVars = input
    ctx.INPUT_ROW = null
    val route = s"""
      ${hash.code}
      ${time.code}
      long $number = $senderTerm.partOf(${hash.value}, ${time.isNull} ? ${terms.time.nullWord}L : ${time.value});
      if ($number < 0L) $number = ${hash.value} | 1L;
      else {
        $offer
      }"""
    if (terms.bounds.isEmpty) s"""
      $route
      ${metricTerm(ctx, "numOutputRows")}.add(1);
      ${consume(ctx, input :+ part(number))}"""
    else s"""
      $route
      int $copies = $senderTerm.copies();
      ${metricTerm(ctx, "copiedRows")}.add($copies);
      ${metricTerm(ctx, "numOutputRows")}.add($copies + 1);
      for (int $i = -1; $i < $copies; $i++) {
        if ($i >= 0) $number = $senderTerm.copy($i);
        ${consume(ctx, input :+ part(number))}
      }"""
  }

  private def part(value: String): ExprCode = ExprCode(FalseLiteral, JavaCode.expression(value, LongType))

  override protected def doCanonicalize(): SparkPlan =
    super.doCanonicalize().asInstanceOf[WindowPartsExec].copy(cuts = cuts.canonicalized(child.output))

  override protected def stringArgs: Iterator[Any] = Iterator(cuts)
  override protected def withNewChildInternal(newChild: SparkPlan): WindowPartsExec = copy(child = newChild)
}

private[window] object WindowPartsExec {

  /** Those whose rows a plan reads, from a shuffle that may be another window's. */
  def behind(plan: SparkPlan): Option[WindowPartsExec] = plan match {
    case parts: WindowPartsExec => Some(parts)
    case stage: QueryStageExec => behind(stage.plan)
    case reused: ReusedExchangeExec => behind(reused.child)
    case other => other.children.iterator.flatMap(behind(_)).nextOption()
  }
}
