package io.github.sparkjoinery.rangejoin

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.optimizer.BuildRight
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.execution._
import org.apache.spark.sql.types.{BinaryType, DataType}

import io.github.sparkjoinery.execution.MatchedColumns

/**
 * The passes over the streamed side where a broadcast join gives out indexed rows for what they are: one that finds the
 * pairs, and one that finds which indexed rows are in any. Each is an operator that is in no plan, with generated code
 * of its own.
 */
private[rangejoin] class KeptSidePasses(join: BroadcastRangeJoinExec) {
  // What Spark asks of an operator before it generates its code.
  private val isGenerated = join.conf.wholeStageEnabled && !join.expressions.exists(_.exists(needsRow)) &&
    !(join +: join.children).exists(plan => WholeStageCodegenExec.isTooManyFields(join.conf, plan.schema))

  /** An expression without code of its own is evaluated on a row, which generated code does not have. */
  private def needsRow(expression: Expression): Boolean = expression match {
    case _: LeafExpression => false
    case other => other.isInstanceOf[CodegenFallback]
  }

  /** Gives the matches, and what the streamed side has beside NULLs. */
  def pairs: SparkPlan = pass(new PairsExec(join, streamed))

  /** Gives a row for each partition, see [[MatchedPlacesExec]]. */
  def matchedPlaces: SparkPlan = pass(new MatchedPlacesExec(join, streamed))

  private def pass(operator: SparkPlan): SparkPlan =
    if (isGenerated) WholeStageCodegenExec(operator)(codegenStageId = 0) else operator

  private def streamed: SparkPlan = join.streamedSide match {
    case stage: WholeStageCodegenExec if isGenerated => stage.child
    case other => if (isGenerated) InputAdapter(other) else other
  }
}

/** A join of the same index, which gives out indexed rows for each match only. */
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

/** The places of the index whose rows have a match among a partition's rows: [[MatchedRows]]. */
private class MatchedPlacesExec(join: BroadcastRangeJoinExec, streamed: SparkPlan) extends PairsExec(join, streamed) {
  private val places = AttributeReference("places", BinaryType, nullable = false)()
  private var found = "" // in generated code

  // Where pairs are found as well, these probes are not counted again.
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

  /** All rows are searched for before the one row is given out. */
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
