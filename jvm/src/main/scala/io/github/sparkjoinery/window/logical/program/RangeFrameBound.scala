package io.github.sparkjoinery.window.logical.program

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.DayTimeIntervalType.DAY
import org.apache.spark.sql.types._

import io.github.sparkjoinery.expressions.AddInterval

/**
 * The value at which a RANGE frame begins or ends, computed by the same expressions as in Spark's own window operator.
 */
private[window] object RangeFrameBound {

  /** @return None if Joinery cannot represent the order column or the offset as a long */
  def bound(order: SortOrder, offset: Expression): Option[Expression] = {
    val value = order.child
    val signed = if (order.direction == Descending) UnaryMinus(offset) else offset
    val zone = Some(SQLConf.get.sessionLocalTimeZone)
    (value.dataType, signed.dataType) match {
      case (DateType, IntegerType) => Some(DateAdd(value, signed))
      case (DateType, _: YearMonthIntervalType) => Some(DateAddYMInterval(value, signed))
      case (DateType, DayTimeIntervalType(DAY, DAY)) => Some(DateAdd(value, ExtractANSIIntervalDays(signed)))
      case (TimestampType | TimestampNTZType, CalendarIntervalType | _: DayTimeIntervalType) =>
        Some(AddInterval(value, signed, zone))
      case (TimestampType | TimestampNTZType, _: YearMonthIntervalType) =>
        Some(TimestampAddYMInterval(value, signed, zone))
      case (decimal: DecimalType, by: DecimalType)
          if decimal.scale == by.scale && decimal.precision < Decimal.MAX_LONG_DIGITS =>
        Some(DecimalAddNoOverflowCheck(value, signed, decimal))
      case (ByteType | ShortType | IntegerType | LongType | FloatType | DoubleType, by) if by == value.dataType =>
        Some(Add(value, signed))
      case _ => None
    }
  }
}
