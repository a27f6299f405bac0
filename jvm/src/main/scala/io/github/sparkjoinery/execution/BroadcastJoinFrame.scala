package io.github.sparkjoinery.execution

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.execution.joins.BroadcastNestedLoopJoinExec
import org.apache.spark.sql.execution.{CodegenSupport, SparkPlan}

/**
 * What makes a broadcast join of ours acceptable to adaptive execution, which takes a broadcast stage below Spark's own
 * broadcast joins only and otherwise stops re-planning without a word. The operator extends Spark's nested loop join,
 * of whose work nothing is left, and mixes this trait in. It streams the child that is not broadcast, in the same stage
 * of generated code.
 *
 * A class cannot extend a case class as a case class: the trait has what the compiler would write, over the operator's
 * arguments.
 */
trait BroadcastJoinFrame extends BroadcastNestedLoopJoinExec {

  /** All arguments of the constructor, in its order. */
  protected def arguments: Seq[Any]

  /** The name of the operator, as EXPLAIN shows it. */
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
