package io.github.sparkjoinery.rangejoin.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, LongType}

import io.github.sparkjoinery.expressions.NullForNull

/** Adds a constant to a long. A sum beyond the range of longs becomes the least or greatest long. */
private[rangejoin] case class SaturatedSum(child: Expression, by: Long) extends UnaryExpression with NullForNull {
  override def dataType: DataType = LongType
  override protected def nullSafeEval(value: Any): Any = SaturatedSum.add(value.asInstanceOf[Long], by)
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    defineCodeGen(ctx, ev, value => s"${classOf[SaturatedSum].getName}.add($value, ${by}L)")
  override protected def withNewChildInternal(newChild: Expression): SaturatedSum = copy(child = newChild)
}

object SaturatedSum {
  def add(value: Long, by: Long): Long = {
    val sum = value + by
    if (((value ^ sum) & (by ^ sum)) >= 0) sum else if (by < 0) Long.MinValue else Long.MaxValue
  }

  def negated(value: Long): Long = if (value == Long.MinValue) Long.MaxValue else -value
}
