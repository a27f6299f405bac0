package io.github.sparkjoinery.rangejoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.execution.RDDScanExec
import org.apache.spark.sql.types.BooleanType

import io.github.sparkjoinery.execution.{BroadcastJoinFrame, MatchedColumns}
import io.github.sparkjoinery.rangejoin.runtime.index.{RangeIndexReader, SearchableRelation}

/**
 * Generates the code of a [[BroadcastRangeJoinExec]] that does not preserve the indexed side. Keys, bounds and
 * condition are evaluated on variables, without rows of their own.
 */
private[rangejoin] trait RangeJoinCodegen extends BroadcastJoinFrame with RangeSearchCodegen {
  self: BroadcastRangeJoinExec =>

  override def doProduce(ctx: CodegenContext): String = withoutIndex match {
    case Some(rows) => rows.produce(ctx, parent)
    case None => super.doProduce(ctx)
  }

  override def inputRDDs(): Seq[RDD[InternalRow]] = withoutIndex.fold(super.inputRDDs())(_.inputRDDs())

  /** The plan that replaces the join if the index is too large: a scan of the rows that tasks compute without it. */
  private lazy val withoutIndex: Option[RDDScanExec] =
    if (tooLarge.isDefined) Some(RDDScanExec(output, execute(), nodeName)) else None

  override def doConsume(ctx: CodegenContext, streamedVars: Seq[ExprCode], row: ExprCode): String = {
    val broadcast = ctx.addReferenceObj("relation", relation)
    val ownTerms = ctx.addReferenceObj("terms", terms)
    val reader = ctx.addMutableState(
      classOf[RangeIndexReader].getName,
      "reader",
      name => s"$name = ((${classOf[SearchableRelation].getName}) $broadcast.value()).index().reader($ownTerms);",
      forceInline = true
    )
    s"""
       |${evaluateSearched(streamedVars)}
       |${metricTerm(ctx, "probes")}.add(1);
       |${beginCode(ctx, streamedVars, reader)}
       |${matchesCode(ctx, streamedVars, reader)}
       |${metricTerm(ctx, "candidates")}.add($reader.candidates());
       |""".stripMargin
  }

  /** Code that handles the matches of a streamed row. */
  protected def matchesCode(ctx: CodegenContext, streamedVars: Seq[ExprCode], reader: String): String =
    joinType match {
      case _: InnerLike => innerCode(ctx, streamedVars, reader)
      case LeftOuter | RightOuter => outerCode(ctx, streamedVars, reader)
      case _ => existenceCode(ctx, streamedVars, reader)
    }

  private def innerCode(ctx: CodegenContext, streamedVars: Seq[ExprCode], reader: String): String = {
    val (place, matched) = (ctx.freshName("place"), ctx.freshName("matched"))
    val indexedVars = MatchedColumns.generate(ctx, matched, indexed.output)
    val condition = conditionCode(ctx, streamedVars, indexedVars)
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

  /** Emits each match. A streamed row without a match passes the loop once more and is emitted with NULLs. */
  private def outerCode(ctx: CodegenContext, streamedVars: Seq[ExprCode], reader: String): String = {
    val (place, matched, found) = (ctx.freshName("place"), ctx.freshName("matched"), ctx.freshName("found"))
    val condition = conditionCode(ctx, streamedVars, MatchedColumns.generate(ctx, matched, indexed.output))
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
    val found = ctx.freshName("found")
    val search = untilFound(ctx, streamedVars, reader, found)
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
       |$search
       |$given
       |""".stripMargin
  }
}
