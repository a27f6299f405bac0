package io.github.sparkjoinery.execution

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.execution.joins.BroadcastNestedLoopJoinExec
import org.apache.spark.sql.execution.{CodegenSupport, SparkPlan}

/**
 * Makes a broadcast join of Joinery acceptable to adaptive execution. Adaptive execution silently stops re-planning if
 * a broadcast stage is below any other operator than Spark's own broadcast joins. The operator therefore extends
 * Spark's nested loop join, overrides all of its work, and mixes in this trait. It streams the child that is not
 * broadcast, within the same whole-stage code.
 *
 * A class that extends a case class gets no case class methods of its own, so the trait implements them over
 * `arguments`.
 */
trait BroadcastJoinFrame extends BroadcastNestedLoopJoinExec {

  /** All constructor arguments, in order. */
  protected def arguments: Seq[Any]

  /** The operator's name in EXPLAIN. */
  override def productPrefix: String

  /** The child that is not broadcast. */
  protected def streamedSide: SparkPlan

  override def nodeName: String = productPrefix
  override def productArity: Int = arguments.length
  override def productElement(n: Int): Any = arguments(n)
  override def productIterator: Iterator[Any] = arguments.iterator
  override def canEqual(that: Any): Boolean = that.getClass == getClass
  override def equals(that: Any): Boolean = that match {
    case other: BroadcastJoinFrame => (this eq other) || canEqual(other) && arguments == other.arguments
    case _ => false
  }
  override def hashCode(): Int = arguments.hashCode()

  override def supportCodegen: Boolean = true
  override def inputRDDs(): Seq[RDD[InternalRow]] = streamedSide.asInstanceOf[CodegenSupport].inputRDDs()
  override def needCopyResult: Boolean = streamedSide.asInstanceOf[CodegenSupport].needCopyResult
  override def doProduce(ctx: CodegenContext): String = streamedSide.asInstanceOf[CodegenSupport].produce(ctx, this)
}
