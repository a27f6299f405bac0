package io.github.sparkjoinery.window.logical

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval

import io.github.sparkjoinery.expressions.OrderedLong

/** The reach of one RANGE frame over a cut. */
private[window] sealed trait RangeReach {
  def from(cut: Long): Long
  def to(cut: Long): Long

  /** Rows before this time have a bound that wraps around to the greatest values. None if no row has one. */
  def wrapsBelow: Option[Long]
}

private[window] object RangeReach {

  /** The reach for types whose time is the value or its complement: all bounds are about as far from their rows. */
  private case class Linear(before: BigInt, after: BigInt, wrapsBelow: Option[Long]) extends RangeReach {
    override def from(cut: Long): Long = clamp(BigInt(cut) - before)
    override def to(cut: Long): Long = clamp(BigInt(cut) + after - 1)
  }

  /** The reach for floating-point numbers: bounds are rounded as Spark's are. */
  private case class Floating(isFloat: Boolean, descending: Boolean, lower: Double, upper: Double)
    extends RangeReach {
    override def wrapsBelow: Option[Long] = None
    override def from(cut: Long): Long = if (lower < 0) moved(cut, lower) else cut
    override def to(cut: Long): Long = if (upper > 0) moved(cut, upper) else cut - 1

    private def moved(time: Long, by: Double): Long = {
      val value = OrderedLong.toDouble(if (descending) ~time else time)
      val signed = if (descending) -by else by
      val bound = OrderedLong.ofDouble(if (isFloat) value.toFloat + signed.toFloat else value + signed)
      if (descending) ~bound else bound
    }
  }

  /**
   * Finds the reach of a frame.
   *
   * @return
   *   the reach, or the reason why a window with this frame cannot be cut
   */
  def find(order: SortOrder, frame: SpecifiedWindowFrame): Either[String, RangeReach] = order.dataType match {
    case dataType @ (FloatType | DoubleType) =>
      val Seq(lower, upper) = Seq(frame.lower, frame.upper).map {
        case CurrentRow => 0.0
        case offset => offset.eval().asInstanceOf[Number].doubleValue
      }
      if (Seq(lower, upper).exists(offset => offset.isNaN || offset.isInfinite))
        Left("a RANGE frame has an offset that is no finite number")
      else Right(Floating(dataType == FloatType, order.direction == Descending, lower, upper))
    case ByteType => Right(wrapping(ByteType, frame, Byte.MinValue))
    case ShortType => Right(wrapping(ShortType, frame, Short.MinValue))
    case dataType @ (IntegerType | DateType) => Right(wrapping(dataType, frame, Int.MinValue))
    case LongType => Right(wrapping(LongType, frame, Long.MinValue))
    case dataType =>
      val (lower, upper) = (extent(dataType, frame.lower), extent(dataType, frame.upper))
      Right(Linear((-lower.least).max(0) + lower.slack.max(upper.slack), upper.most.max(0), None))
  }

  /**
   * Numbers and days may wrap around near the ends of their type. Spark's frames never go back, so a bound that wraps
   * also changes frames of later rows, up to the sum of both offsets away. An upper bound that wraps below the least
   * value changes the frames of all later rows.
   */
  private def wrapping(dataType: DataType, frame: SpecifiedWindowFrame, least: Long): RangeReach = {
    val (lower, upper) = (extent(dataType, frame.lower), extent(dataType, frame.upper))
    val wrapsBelow = if (upper.least < 0) Some(clamp(least - upper.least)) else None
    Linear(lower.length + upper.length, upper.most.max(0), wrapsBelow)
  }

  /**
   * The distance of bounds from their rows.
   *
   * @param slack
   *   the largest distance of two rows whose bounds come in the opposite order
   */
  private case class Extent(least: BigInt, most: BigInt, slack: BigInt) {
    def length: BigInt = least.abs.max(most.abs)
    def moved(by: BigInt): Extent = copy(least + by, most + by)
    def widened(by: BigInt): Extent = Extent(least - by, most + by, slack + by)
  }

  private def extent(order: DataType, bound: Expression): Extent = {
    val none = Extent(0, 0, 0)
    def days(number: BigInt): BigInt = if (order == DateType) number else number * MICROS_PER_DAY
    def months(number: Int): Extent =
      if (number == 0) none
      else {
        val ends = Seq(28, 31).map(length => days(BigInt(number) * length))
        Extent(ends.min, ends.max, days(4))
      }
    // A day of a time zone may be longer or shorter than 24 hours. No two zones are more than 36 hours apart.
    def inZone(extent: Extent): Extent = if (order == TimestampType) extent.widened(days(2)) else extent
    bound match {
      case CurrentRow => none
      case offset => (offset.dataType, offset.eval()) match {
          case (_: YearMonthIntervalType, number: Int) => inZone(months(number))
          case (_: DayTimeIntervalType, micros: Long) if order == DateType => none.moved(micros / MICROS_PER_DAY)
          case (_: DayTimeIntervalType, micros: Long) =>
            val exact = none.moved(micros)
            if (exact.length < MICROS_PER_DAY) exact else inZone(exact)
          case (_, interval: CalendarInterval) =>
            val exact = months(interval.months).moved(days(interval.days)).moved(interval.microseconds)
            if (interval.months == 0 && interval.days == 0) exact else inZone(exact)
          case (_, number: Decimal) => none.moved(number.toUnscaledLong)
          case (_, number: Number) => none.moved(number.longValue)
        }
    }
  }

  private def clamp(number: BigInt): Long = number.max(Long.MinValue).min(Long.MaxValue).toLong
}
