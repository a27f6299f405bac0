package io.github.sparkjoinery.planning.terms

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.types._

import io.github.sparkjoinery.expressions.AddInterval

/**
 * Tells if an expression rises or falls as the term rises. The answer holds for every value of the type. It is unknown
 * if a value may wrap around, or depends on local time in a zone whose clocks are set back. The functions `date_add`,
 * `date_sub` and `datediff` wrap around in every mode. Spark rewrites DATE + INTERVAL and similar forms to them. An
 * expression that throws instead has a known answer.
 *
 * @param term
 *   the ORDER BY term
 * @param others
 *   the columns of the term's side
 */
class Monotone(term: Expression, others: AttributeSet) {

  /**
   * Returns 1 if the expression never falls, -1 if it never rises, 0 if it does not depend on the term's side, else
   * None.
   */
  def direction(e: Expression): Option[Int] = e match {
    case _ if e.semanticEquals(term) => Some(1)
    case _ if !e.references.exists(others.contains) => Some(0)
    case cast: Cast if Monotone.rises(cast.child.dataType, cast.dataType, cast.timeZoneId) => direction(cast.child)
    case minus: UnaryMinus if exact(minus.dataType, minus.failOnError) => direction(minus.child).map(-_)
    case add: Add if exact(add.dataType, add.evalMode == EvalMode.ANSI) =>
      sum(direction(add.left), direction(add.right))
    case minus: Subtract if exact(minus.dataType, minus.evalMode == EvalMode.ANSI) =>
      sum(direction(minus.left), direction(minus.right).map(-_))
    case diff: SubtractDates if !diff.legacyInterval => sum(direction(diff.left), direction(diff.right).map(-_))
    case diff: SubtractTimestamps if !diff.legacyInterval && Monotone.evenly(diff.left.dataType, diff.timeZoneId) =>
      sum(direction(diff.left), direction(diff.right).map(-_))
    case AddInterval(start, interval, zone) if isFixed(interval, start.dataType, zone) => direction(start)
    case _ => None
  }

  /**
   * True if a comparison that is not true for a row is not true for any earlier row, either.
   *
   * @param ascending
   *   true if the term rises from row to row
   */
  def staysFalseBackwards(comparison: Expression, ascending: Boolean): Boolean = {
    val rising = comparison match {
      case GreaterThanOrEqual(a, b) => sum(direction(a), direction(b).map(-_))
      case GreaterThan(a, b) => sum(direction(a), direction(b).map(-_))
      case LessThanOrEqual(a, b) => sum(direction(b), direction(a).map(-_))
      case LessThan(a, b) => sum(direction(b), direction(a).map(-_))
      case _ => None
    }
    rising.contains(if (ascending) 1 else -1)
  }

  private def sum(a: Option[Int], b: Option[Int]): Option[Int] = (a, b) match {
    case (Some(x), Some(y)) if x == 0 || y == 0 || x == y => Some(if (x == 0) y else x)
    case _ => None
  }

  /**
   * True if arithmetic keeps the order of values. Integers wrap around unless ANSI mode throws. Floating-point numbers
   * have NaN, which is the greatest value, and still the greatest when it is subtracted.
   */
  private def exact(dataType: DataType, failsOnOverflow: Boolean): Boolean = dataType match {
    case ByteType | ShortType | IntegerType | LongType | _: DecimalType => failsOnOverflow
    case _: DayTimeIntervalType | _: YearMonthIntervalType => true
    case _ => false
  }

  /**
   * True if adding the interval keeps the order of values. Intervals of less than a day move an instant. Days move
   * local time, which is the same if the zone's clocks are never set.
   */
  private def isFixed(interval: Expression, moved: DataType, zone: Option[String]): Boolean = interval match {
    case Literal(micros: Long, _: DayTimeIntervalType) => // the smallest long has no absolute value
      -MICROS_PER_DAY < micros && micros < MICROS_PER_DAY || Monotone.evenly(moved, zone)
    case _ => false
  }
}

object Monotone {

  private val digits: Map[DataType, Int] = Map(ByteType -> 3, ShortType -> 5, IntegerType -> 10, LongType -> 20)

  /** The largest precision at which a decimal always becomes the nearest double, however Spark stores it. */
  private val ExactDigits = 15

  /** True for casts that keep the order of all values of a type. */
  private def rises(from: DataType, to: DataType, zone: Option[String]): Boolean = (from, to) match {
    case _ if digits.contains(from) && digits.contains(to) => digits(from) <= digits(to)
    case (FloatType, FloatType | DoubleType) => true
    case (decimal: DecimalType, DoubleType) => decimal.precision <= ExactDigits
    case (_, FloatType | DoubleType) => digits.contains(from)
    case (_, decimal: DecimalType) if digits.contains(from) => decimal.precision - decimal.scale >= digits(from)
    case (a: DecimalType, b: DecimalType) => b.scale >= a.scale && b.precision - b.scale >= a.precision - a.scale
    case (DateType, TimestampNTZType | TimestampType) => true
    case (TimestampNTZType, TimestampType) | (TimestampType, TimestampNTZType | DateType) => evenly(TimestampType, zone)
    case (TimestampNTZType, DateType) => true
    case _ => from == to
  }

  /** True if local time has a fixed offset: the type has no zone, or the zone's clocks are never set. */
  def evenly(dataType: DataType, zone: Option[String]): Boolean =
    dataType == TimestampNTZType ||
      zone.exists(id => Try(DateTimeUtils.getZoneId(id).getRules.isFixedOffset).getOrElse(false))
}
