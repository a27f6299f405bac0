package io.github.sparkjoinery.rangejoin

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.optimizer.BuildRight
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.execution.RDDScanExec
import org.apache.spark.sql.types.BooleanType

import io.github.sparkjoinery.execution.{BroadcastJoinFrame, MatchedColumns}
import io.github.sparkjoinery.rangejoin.index.{RangeIndexReader, SearchableRelation}

/**
 * Generated code of [[BroadcastRangeJoinExec]], where streamed rows alone decide what is given out. Keys, bounds and
 * condition are evaluated on variables, without rows of their own.
 */
private[rangejoin] trait RangeJoinCodegen extends BroadcastJoinFrame { self: BroadcastRangeJoinExec =>

  override def doProduce(ctx: CodegenContext): String = withoutIndex match {
    case Some(rows) => rows.produce(ctx, parent)
    case None => super.doProduce(ctx)
  }

  override def inputRDDs(): Seq[RDD[InternalRow]] = withoutIndex.fold(super.inputRDDs())(_.inputRDDs())

  /** What stands in the place of the join if there is no index to search: rows of tasks that do without. */
  private lazy val withoutIndex: Option[RDDScanExec] =
    if (tooLarge.isDefined) Some(RDDScanExec(output, execute(), nodeName)) else None

  override def doConsume(ctx: CodegenContext, streamedVars: Seq[ExprCode], row: ExprCode): String = {
    val broadcast = ctx.addReferenceObj("relation", relation)
    val ownTerms = ctx.addReferenceObj("terms", terms)
    val reader = ctx.addMutableState(
      classOf[RangeIndexReader].getName,
      "reader",
      name => s"$name = $ownTerms.reader(((${classOf[SearchableRelation].getName}) $broadcast.value()).index());",
      forceInline = true
    )
    val searched = terms.streamedKeys ++ terms.bounds.map(_.probe) ++ terms.residual
    val evaluated =
      evaluateRequiredVariables(streamedSide.output, streamedVars, AttributeSet(searched.flatMap(_.references)))
    s"""
       |$evaluated
       |${metricTerm(ctx, "probes")}.add(1);
       |${beginCode(ctx, streamedVars, reader)}
       |${matchesCode(ctx, streamedVars, reader)}
       |${metricTerm(ctx, "candidates")}.add($reader.candidates());
       |""".stripMargin
  }

  /** Code that does what is to be done for the matches of a streamed row. */
  protected def matchesCode(ctx: CodegenContext, streamedVars: Seq[ExprCode], reader: String): String =
    joinType match {
      case _: InnerLike => innerCode(ctx, streamedVars, reader)
      case LeftOuter | RightOuter => outerCode(ctx, streamedVars, reader)
      case _ => existenceCode(ctx, streamedVars, reader)
    }

  /** Code that has the reader look for the candidates of a streamed row. */
  private def beginCode(ctx: CodegenContext, streamedVars: Seq[ExprCode], reader: String): String = {
    def onStreamed[T](generate: => T): T = {
      ctx.currentVars = streamedVars
      ctx.INPUT_ROW = null
      generate
    }
    def value(expression: Expression): ExprCode =
      onStreamed(BindReferences.bindReference(expression, streamedSide.output).genCode(ctx))
    val (key, keyIsNull) = terms.longKey match {
      case Some(long) =>
        val code = value(long)
        (code, code.isNull.toString)
      case None =>
        val keys = BindReferences.bindReferences(terms.streamedKeys, streamedSide.output)
        val row = onStreamed(GenerateUnsafeProjection.createCode(ctx, keys))
        (row, s"${row.value}.anyNull()")
    }
    val (lower, upper) = (value(terms.lowerLong), value(terms.upperLong))
    val number = ctx.freshName("number")
    val bounded = s"$reader.between($number, ${lower.value}, ${upper.value});"
    val reached = terms.reaches.foldLeft(bounded) { case (search, (term, reach)) =>
      val point = value(term)
      s"""
         |${point.code}
         |if (${point.isNull} || $reader.areWithin(${reach}L, ${point.value}, $number)) {
         |  $search
         |} else {
         |  $reader.all($number);
         |}
         |""".stripMargin
    }
    val between =
      s"""
         |${lower.code}
         |${upper.code}
         |if (!${lower.isNull} && !${upper.isNull}) {
         |  $reached
         |}
         |""".stripMargin
    val search = terms.probeFails match {
      case Literal.FalseLiteral => between
      case mayFail =>
        val fails = value(mayFail)
        s"""
           |${fails.code}
           |if (!${fails.isNull} && ${fails.value}) {
           |  $reader.all($number);
           |} else {
           |  $between
           |}
           |""".stripMargin
    }
    s"""
       |$reader.none();
       |${key.code}
       |if (!$keyIsNull) {
       |  int $number = $reader.numberOf(${key.value});
       |  if ($number >= 0) {
       |    $search
       |  }
       |}
       |""".stripMargin
  }

  /** Code that leaves a candidate by `continue` if it is no match. */
  protected def conditionCode(ctx: CodegenContext, streamedVars: Seq[ExprCode], candidate: String): String =
    terms.residual.map { condition =>
      val indexedVars = MatchedColumns.of(ctx, candidate, indexed.output)
      val columns = evaluateRequiredVariables(indexed.output, indexedVars, condition.references)
      ctx.currentVars = streamedVars ++ indexedVars
      ctx.INPUT_ROW = null
      val passes = BindReferences.bindReference(condition, streamedSide.output ++ indexed.output).genCode(ctx)
      s"""
         |$columns
         |${passes.code}
         |if (${passes.isNull} || !${passes.value}) continue;
         |""".stripMargin
    }.getOrElse("")

  private def sided(streamedVars: Seq[ExprCode], indexedVars: Seq[ExprCode]): Seq[ExprCode] =
    if (indexedSide == BuildRight) streamedVars ++ indexedVars else indexedVars ++ streamedVars

  private def innerCode(ctx: CodegenContext, streamedVars: Seq[ExprCode], reader: String): String = {
    val (place, matched) = (ctx.freshName("place"), ctx.freshName("matched"))
    val condition = conditionCode(ctx, streamedVars, matched)
    val indexedVars = MatchedColumns.of(ctx, matched, indexed.output)
    s"""
       |int $place = 0;
       |while (($place = $reader.next()) >= 0) {
       |  UnsafeRow $matched = $reader.row($place);
       |  $condition
       |  ${metricTerm(ctx, "numOutputRows")}.add(1);
       |  ${consume(ctx, sided(streamedVars, indexedVars))}
       |}
       |""".stripMargin
  }

  /** Once more, when there are no candidates left and no match was among them, with NULLs. */
  private def outerCode(ctx: CodegenContext, streamedVars: Seq[ExprCode], reader: String): String = {
    val (place, matched, found) = (ctx.freshName("place"), ctx.freshName("matched"), ctx.freshName("found"))
    val condition = conditionCode(ctx, streamedVars, matched)
    val indexedVars = MatchedColumns.orNulls(ctx, matched, indexed.output)
    s"""
       |boolean $found = false;
       |int $place = 0;
       |while ($place >= 0) {
       |  $place = $reader.next();
       |  UnsafeRow $matched = null;
       |  if ($place >= 0) {
       |    $matched = $reader.row($place);
       |    $condition
       |    $found = true;
       |  } else if ($found) {
       |    break;
       |  }
       |  ${metricTerm(ctx, "numOutputRows")}.add(1);
       |  ${consume(ctx, sided(streamedVars, indexedVars))}
       |}
       |""".stripMargin
  }

  private def existenceCode(ctx: CodegenContext, streamedVars: Seq[ExprCode], reader: String): String = {
    val (place, matched, found) = (ctx.freshName("place"), ctx.freshName("matched"), ctx.freshName("found"))
    val condition = conditionCode(ctx, streamedVars, matched)
    val output = s"${metricTerm(ctx, "numOutputRows")}.add(1);"
    val given = joinType match {
      case LeftSemi => s"if ($found) {\n$output\n${consume(ctx, streamedVars)}\n}"
      case LeftAnti => s"if (!$found) {\n$output\n${consume(ctx, streamedVars)}\n}"
      case _ =>
        val exists = ExprCode(FalseLiteral, JavaCode.variable(found, BooleanType))
        s"$output\n${consume(ctx, streamedVars :+ exists)}"
    }
    s"""
       |boolean $found = false;
       |int $place = 0;
       |while (!$found && ($place = $reader.next()) >= 0) {
       |  UnsafeRow $matched = $reader.row($place);
       |  $condition
       |  $found = true;
       |}
       |$given
       |""".stripMargin
  }
}
