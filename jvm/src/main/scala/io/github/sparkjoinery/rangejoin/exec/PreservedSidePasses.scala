package io.github.sparkjoinery.rangejoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.optimizer.BuildRight
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.execution._
import org.apache.spark.sql.types.{BinaryType, DataType}

import io.github.sparkjoinery.rangejoin.runtime.MatchedRows

/**
 * Passes over the stream side of a broadcast join that preserves the indexed side. [[PairsExec]] emits the matches, and
 * [[MatchedPlacesExec]] the set of indexed rows with a match. Both run directly, with generated code of their own, and
 * appear in no plan.
 */
private[rangejoin] class PreservedSidePasses(join: BroadcastRangeJoinExec) {
  // Spark checks the same before it generates the code of an operator.
  private val isGenerated = join.conf.wholeStageEnabled && !join.expressions.exists(_.exists(needsRow)) &&
    !(join +: join.children).exists(plan => WholeStageCodegenExec.isTooManyFields(join.conf, plan.schema))

  /** True if an expression without generated code is evaluated on a row, which generated code does not have. */
  private def needsRow(expression: Expression): Boolean = expression match {
    case _: LeafExpression => false
    case other => other.isInstanceOf[CodegenFallback]
  }

  /** Emits the matches, and the unmatched rows of the stream side with NULLs if the join preserves them. */
  def pairs: SparkPlan = pass(new PairsExec(join, streamed))

  /** Emits one row for each partition, see [[MatchedPlacesExec]]. */
  def matchedPlaces: SparkPlan = pass(new MatchedPlacesExec(join, streamed))

  private def pass(operator: SparkPlan): SparkPlan =
    if (isGenerated) WholeStageCodegenExec(operator)(codegenStageId = 0) else operator

  private def streamed: SparkPlan = join.streamedSide match {
    case stage: WholeStageCodegenExec if isGenerated => stage.child
    case other => if (isGenerated) InputAdapter(other) else other
  }
}

/** A join by the same index that emits indexed rows only in matches. */
private class PairsExec(join: BroadcastRangeJoinExec, streamed: SparkPlan)
  extends BroadcastRangeJoinExec(
    if (join.indexedSide == BuildRight) streamed else join.left,
    if (join.indexedSide == BuildRight) join.right else streamed,
    join.indexedSide,
    join.joinType match {
      case FullOuter => if (join.indexedSide == BuildRight) LeftOuter else RightOuter
      case _ => Inner
    },
    join.terms
  ) {
  override lazy val metrics = join.metrics
}

/** Emits the places of the indexed rows that match a row of the partition, as [[MatchedRows]]. */
private class MatchedPlacesExec(join: BroadcastRangeJoinExec, streamed: SparkPlan) extends PairsExec(join, streamed) {
  private val places = AttributeReference("places", BinaryType, nullable = false)()
  private var found = "" // name of a variable in generated code

  // If pairs are searched as well, the probes of this pass are not counted again.
  override lazy val metrics = if (join.rangeJoin.givesPairs) searchMetrics else join.metrics
  override def output: Seq[Attribute] = Seq(places)
  override def needCopyResult: Boolean = false

  override protected def doExecute(): RDD[InternalRow] = {
    val (counted, shipped) = (join.rangeJoin.copy(metrics = metrics), searchable)
    this.streamed.execute().mapPartitions { rows =>
      val found = counted.task(shipped.value.index).mark(rows)
      Iterator(UnsafeProjection.create(Array[DataType](BinaryType))(InternalRow(found.toBytes)))
    }
  }

  /** Searches the matches of all rows before the one row is emitted. */
  override def doProduce(ctx: CodegenContext): String = {
    val (isDone, mark, bytes) =
      (ctx.addMutableState(CodeGenerator.JAVA_BOOLEAN, "isDone"), ctx.freshName("mark"), ctx.freshName("bytes"))
    val places = classOf[MatchedRows].getName
    found = ctx.addMutableState(places, "found", name => s"$name = new $places();")
    val function = ctx.addNewFunction(
      mark,
      s"""
         |private void $mark() throws java.io.IOException {
         |  ${super.doProduce(ctx)}
         |}
         |""".stripMargin)
    s"""
       |if (!$isDone) {
       |  $isDone = true;
       |  $function();
       |  byte[] $bytes = $found.toBytes();
       |  ${consume(ctx, Seq(ExprCode(FalseLiteral, JavaCode.variable(bytes, BinaryType))))}
       |}
       |""".stripMargin
  }

  override protected def matchesCode(ctx: CodegenContext, streamedVars: Seq[ExprCode], reader: String): String =
    markMatches(ctx, streamedVars, reader, found)
}
