package io.github.sparkjoinery.window.program

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.types.{DataType, Decimal, YearMonthIntervalType}

/**
 * A sum of whole numbers in its own type, longs or intervals. Raises Spark's error if the type cannot hold it.
 *
 * @param child
 *   the sum as a decimal
 */
private[window] case class NarrowedSum(child: Expression, dataType: DataType)
  extends UnaryExpression
  with CodegenFallback {
  @transient private lazy val overflow = ExactSum.overflow(dataType)

  override def nullIntolerant: Boolean = true

  override protected def nullSafeEval(sum: Any): Any = {
    val exact = sum.asInstanceOf[Decimal].toJavaBigInteger
    dataType match {
      case _: YearMonthIntervalType => if (exact.bitLength < Integer.SIZE) exact.intValue else overflow.eval()
      case _ => if (exact.bitLength < java.lang.Long.SIZE) exact.longValue else overflow.eval()
    }
  }

  override protected def withNewChildInternal(newChild: Expression): NarrowedSum = copy(child = newChild)
}
