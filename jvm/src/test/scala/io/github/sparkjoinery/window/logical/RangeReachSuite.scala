package io.github.sparkjoinery.window.logical

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval

import io.github.sparkjoinery.expressions.OrderedLong

/** Between which times the rows lie that a RANGE frame on the other side of a cut may hold. */
class RangeReachSuite extends AnyFunSuite {
  private def find(dataType: DataType, lower: Expression, upper: Expression, direction: SortDirection = Ascending) =
    RangeReach.find(
      SortOrder(AttributeReference("o", dataType)(), direction),
      SpecifiedWindowFrame(RangeFrame, lower, upper))
  private val Day = 86400L * 1000000

  test("numbers: as far as both offsets, for a bound may wrap around") {
    val Right(reach) = find(IntegerType, Literal(-5), Literal(3))
    assert((reach.from(100), reach.to(100), reach.wrapsBelow) == ((92L, 102L, None)))
  }

  test("numbers whose upper bound is before the row") {
    val Right(reach) = find(IntegerType, Literal(-5), Literal(-3))
    assert((reach.from(100), reach.to(100)) == ((92L, 99L)))
    assert(reach.wrapsBelow.contains(Int.MinValue + 3L))
  }

  test("the ends of bigint") {
    val Right(reach) = find(LongType, Literal(Long.MinValue), Literal(Long.MaxValue))
    assert((reach.from(0), reach.to(2)) == ((Long.MinValue, Long.MaxValue)))
  }

  test("doubles: rounded as bounds are, in both directions") {
    def word(value: Double) = OrderedLong.ofDouble(value)
    val Right(up) = find(DoubleType, Literal(-1.5), Literal(0.25))
    assert((up.from(word(-3)), up.to(word(-3))) == ((word(-4.5), word(-2.75))))
    val Right(down) = find(DoubleType, Literal(-1.5), CurrentRow, Descending)
    assert((down.from(~word(7)), down.to(~word(7))) == ((~word(8.5), ~word(7) - 1)))
    assert(find(DoubleType, Literal(Double.NegativeInfinity), CurrentRow).isLeft)
  }

  test("timestamps: hours exactly, days in any zone, months of any length") {
    val hours = Literal(-3600L * 1000000, DayTimeIntervalType())
    assert(find(TimestampType, hours, CurrentRow).map(_.from(10 * Day)) == Right(10 * Day - 3600L * 1000000))
    val days = Literal(-2 * Day, DayTimeIntervalType())
    assert(find(TimestampNTZType, days, CurrentRow).map(_.from(10 * Day)) == Right(8 * Day))
    // Two days more for the bound, and two for earlier rows with later bounds.
    assert(find(TimestampType, days, CurrentRow).map(_.from(10 * Day)) == Right(4 * Day))
    val month = Literal(new CalendarInterval(-1, 0, 0), CalendarIntervalType)
    assert(find(TimestampNTZType, month, CurrentRow).map(_.from(100 * Day)) == Right((100 - 31 - 4) * Day))
  }
}
