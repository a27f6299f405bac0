package io.github.sparkjoinery.window.logical.program

import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.types.{DataType, Decimal, YearMonthIntervalType}

import io.github.sparkjoinery.expressions.NullForNull

/**
 * Converts a decimal sum to a long or an interval.
 *
 * @param child
 *   the sum as a decimal
 * @param overflow
 *   the result if the type cannot hold the sum, NULL or an error
 */
private[window] case class NarrowSum(child: Expression, dataType: DataType, overflow: Expression)
  extends UnaryExpression
  with CodegenFallback
  with NullForNull {

  override protected def nullSafeEval(sum: Any): Any = {
    val exact = sum.asInstanceOf[Decimal].toJavaBigInteger
    dataType match {
      case _: YearMonthIntervalType => if (exact.bitLength < Integer.SIZE) exact.intValue else overflow.eval()
      case _ => if (exact.bitLength < java.lang.Long.SIZE) exact.longValue else overflow.eval()
    }
  }

  override protected def withNewChildInternal(newChild: Expression): NarrowSum = copy(child = newChild)
}
