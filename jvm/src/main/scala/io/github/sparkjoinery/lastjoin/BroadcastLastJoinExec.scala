package io.github.sparkjoinery.lastjoin

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.optimizer.BuildRight
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution.{CodegenSupport, SparkPlan}
import org.apache.spark.sql.execution.joins.BroadcastNestedLoopJoinExec

import io.github.sparkjoinery.execution.rows.{GroupedRows, GroupedRowsReader}
import io.github.sparkjoinery.lastjoin.logical.LastJoinTerms
import io.github.sparkjoinery.lastjoin.search.GroupedRowsSearch

/**
 * LAST JOIN with the right side broadcast, grouped by key and in order ([[GroupedRowsBroadcastMode]]); each left row
 * finds its candidates by hash and binary search and tries them from the last backwards. The left side is streamed: it
 * keeps its partitioning and order. Memory: the right side once per executor, within Spark's broadcast limits.
 *
 * It extends Spark's nested loop join because adaptive execution accepts a broadcast stage below Spark's own
 * broadcast joins only, and otherwise stops re-planning without a word. Nothing of that operator's work is left.
 *
 * @param leftKeys,rightKeys,order,asOf,asOfTerm,strict,within,residual see [[LastJoinTerms]]
 */
class BroadcastLastJoinExec(
    left: SparkPlan,
    right: SparkPlan,
    override val leftKeys: Seq[Expression],
    override val rightKeys: Seq[Expression],
    val order: Seq[SortOrder],
    val asOf: Option[Expression],
    val asOfTerm: Option[Expression],
    val strict: Boolean,
    val within: Option[Expression],
    val residual: Option[Expression])
  extends BroadcastNestedLoopJoinExec(left, right, BuildRight, LeftOuter, residual) with LastJoinExec with GroupedRowsCodegen {

  override def terms: LastJoinTerms = LastJoinTerms(leftKeys, rightKeys, order, asOf, asOfTerm, strict, within, residual)

  override lazy val metrics = commonMetrics

  override def requiredChildDistribution: Seq[Distribution] =
    Seq(UnspecifiedDistribution, BroadcastDistribution(GroupedRowsBroadcastMode(terms.right(right.output))))

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

  override def supportCodegen: Boolean = true
  override def inputRDDs(): Seq[RDD[InternalRow]] = left.asInstanceOf[CodegenSupport].inputRDDs()
  override def needCopyResult: Boolean = left.asInstanceOf[CodegenSupport].needCopyResult
  override def doProduce(ctx: CodegenContext): String = left.asInstanceOf[CodegenSupport].produce(ctx, this)

  override def doConsume(ctx: CodegenContext, leftVars: Seq[ExprCode], row: ExprCode): String = {
    val relation = ctx.addReferenceObj("relation", right.executeBroadcast[GroupedRows]())
    val termsObject = ctx.addReferenceObj("terms", terms)
    val rightOutput = ctx.addReferenceObj("rightOutput", right.output, classOf[scala.collection.immutable.Seq[_]].getName)
    val readerClass = classOf[GroupedRowsReader].getName
    val reader = ctx.addMutableState(readerClass, "reader", name =>
      s"$name = ((${classOf[GroupedRows].getName}) $relation.value()).reader($termsObject, $rightOutput);", forceInline = true)
    val matched = ctx.freshName("matched")
    val searched = evaluateSearched(leftVars)
    s"""
       |$searched
       |UnsafeRow $matched = null;
       |${searchCode(ctx, leftVars, reader, matched)}
       |${consumeMatch(ctx, leftVars, matched)}
       |""".stripMargin
  }

  // A class cannot extend a case class as a case class: what the compiler would write, over our own arguments.
  override def productPrefix: String = "BroadcastLastJoin"
  override def nodeName: String = productPrefix
  private def arguments: Seq[Any] =
    Seq(left, right, leftKeys, rightKeys, order, asOf, asOfTerm, strict, within, residual)
  override def productArity: Int = arguments.length
  override def productElement(n: Int): Any = arguments(n)
  override def productIterator: Iterator[Any] = arguments.iterator
  override def canEqual(that: Any): Boolean = that.isInstanceOf[BroadcastLastJoinExec]
  override def equals(that: Any): Boolean = that match {
    case other: BroadcastLastJoinExec => (this eq other) || arguments == other.arguments
    case _ => false
  }
  override def hashCode(): Int = arguments.hashCode()

  override protected def stringArgs: Iterator[Any] = Iterator(leftKeys, rightKeys, order, asOf, within, residual)
  override def verboseStringWithOperatorId(): String = describe

  override protected def withNewChildrenInternal(newLeft: SparkPlan, newRight: SparkPlan): BroadcastLastJoinExec =
    BroadcastLastJoinExec(newLeft, newRight, terms)
}

object BroadcastLastJoinExec {
  def apply(left: SparkPlan, right: SparkPlan, terms: LastJoinTerms): BroadcastLastJoinExec =
    new BroadcastLastJoinExec(left, right, terms.leftKeys, terms.rightKeys, terms.order, terms.asOf, terms.asOfTerm, terms.strict,
      terms.within, terms.residual)
}
