package io.github.sparkjoinery.expressions

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.types._
import org.apache.spark.sql.types.{DataType, Decimal, LongType}

/**
 * A value as a long: equal values give equal longs, and longs sort as the values do. NULL gives NULL. So keys are
 * hashed, and times searched, without a look at the row.
 *
 * @param child
 *   of a type that [[OrderedLong.supports]]
 * @param descending
 *   whether greater values give lesser longs
 */
case class OrderedLong(child: Expression, descending: Boolean = false) extends UnaryExpression {

  override def nullIntolerant: Boolean = true
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

  /** Spark's order of doubles: -0.0 equals 0.0, and NaN, of which there is one, comes last. */
  def ofDouble(value: Double): Long = {
    val bits = java.lang.Double.doubleToLongBits(if (value == 0) 0.0 else value)
    bits ^ ((bits >> 63) & Long.MaxValue)
  }

  /** The double that has a long. */
  def toDouble(long: Long): Double = java.lang.Double.longBitsToDouble(long ^ ((long >> 63) & Long.MaxValue))
}
