package io.github.sparkjoinery.expressions

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.types._
import org.apache.spark.sql.types.{DataType, Decimal, LongType}

/**
 * Converts a value to a long that sorts as the value does: equal values give equal longs, NULL gives NULL. Keys can
 * then be hashed, and times searched, without reading the row.
 *
 * @param child
 *   a value of a type that [[OrderedLong.supports]] accepts
 * @param descending
 *   true if greater values give smaller longs
 */
case class OrderedLong(child: Expression, descending: Boolean = false) extends UnaryExpression with NullForNull {

  override def dataType: DataType = LongType

  override protected def nullSafeEval(value: Any): Any = {
    val long = PhysicalDataType(child.dataType) match {
      case PhysicalDoubleType => OrderedLong.ofDouble(value.asInstanceOf[Double])
      case PhysicalFloatType => OrderedLong.ofDouble(value.asInstanceOf[Float])
      case _: PhysicalDecimalType => value.asInstanceOf[Decimal].toUnscaledLong
      case _ => value.asInstanceOf[Number].longValue
    }
    if (descending) ~long else long
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = nullSafeCodeGen(
    ctx,
    ev,
    value => {
      val long = PhysicalDataType(child.dataType) match {
        case PhysicalDoubleType | PhysicalFloatType => s"${classOf[OrderedLong].getName}.ofDouble($value)"
        case _: PhysicalDecimalType => s"$value.toUnscaledLong()"
        case _ => s"(long) $value"
      }
      s"${ev.value} = ${if (descending) s"~($long)" else long};"
    }
  )

  override protected def withNewChildInternal(newChild: Expression): OrderedLong = copy(child = newChild)
}

object OrderedLong {

  def supports(dataType: DataType): Boolean = PhysicalDataType(dataType) match {
    case PhysicalByteType | PhysicalShortType | PhysicalIntegerType | PhysicalLongType => true
    case PhysicalFloatType | PhysicalDoubleType => true
    case decimal: PhysicalDecimalType => decimal.precision <= Decimal.MAX_LONG_DIGITS
    case _ => false
  }

  /** Orders doubles as Spark does: -0.0 equals 0.0, and NaN comes last. */
  def ofDouble(value: Double): Long = {
    val bits = java.lang.Double.doubleToLongBits(if (value == 0) 0.0 else value)
    bits ^ ((bits >> 63) & Long.MaxValue)
  }

  /** The double that has a long. */
  def toDouble(long: Long): Double = java.lang.Double.longBitsToDouble(long ^ ((long >> 63) & Long.MaxValue))
}
