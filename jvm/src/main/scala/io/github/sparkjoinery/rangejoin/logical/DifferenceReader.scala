package io.github.sparkjoinery.rangejoin.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.types._

import io.github.sparkjoinery.expressions.OrderedLong

/** Reads limits on differences, such as `a - b < 5`, `abs(a - b) <= 10` or `datediff(a, b) >= 2`. */
private[rangejoin] object DifferenceReader {

  /** Reads `less < greater` or `less <= greater`, if one term is a difference and the other a literal. */
  def find(conjunct: Expression, less: Expression, greater: Expression): Seq[Difference] = (less, greater) match {
    case (difference, limit: Literal) if limit.value != null => limited(conjunct, difference, limit, isUpper = true)
    case (limit: Literal, difference) if limit.value != null => limited(conjunct, difference, limit, isUpper = false)
    case _ => Nil
  }

  private def limited(conjunct: Expression, limited: Expression, limit: Literal, isUpper: Boolean): Seq[Difference] =
    withoutCasts(limited) match {
      // A lower limit on abs leaves two ranges, which no index searches. abs of the least number stays negative. The
      // two bounds exclude such a pair, but it is out of reach, and so a candidate.
      case Abs(child, failsBeyond) if isUpper =>
        val difference = withoutCasts(child)
        val mayWrap = !failsBeyond || wrapsAround(difference)
        limitOf(conjunct, difference, limit, isUpper = true, mayWrap).toSeq ++
          limitOf(conjunct, difference, limit, isUpper = false, mayWrap, isNegated = true)
      case _: Abs => Nil
      case difference => limitOf(conjunct, difference, limit, isUpper, wrapsAround(difference)).toSeq
    }

  /** True if a difference that overflows its type becomes another number. Otherwise it is an error or NULL. */
  private def wrapsAround(difference: Expression): Boolean = difference match {
    case minus: Subtract => minus.evalMode == EvalMode.LEGACY
    case _ => true
  }

  /** The term below casts that keep every number. */
  private def withoutCasts(term: Expression): Expression = term match {
    case cast: Cast if isWidening(cast.child.dataType, cast.dataType) => withoutCasts(cast.child)
    case _ => term
  }

  private def isWidening(from: DataType, to: DataType): Boolean = (from, to) match {
    case (ByteType | ShortType | IntegerType | FloatType, ShortType | IntegerType | LongType | DoubleType) =>
      Cast.canUpCast(from, to) && (from == FloatType) == (to == DoubleType)
    case _ => false
  }

  private def limitOf(
      conjunct: Expression,
      difference: Expression,
      limit: Literal,
      isUpper: Boolean,
      mayWrap: Boolean,
      isNegated: Boolean = false): Option[Difference] = {
    def whole(left: Expression, right: Expression, most: Long, unit: Long = 1): Option[Difference] =
      if (!isOfOneOrder(left.dataType, right.dataType) || !OrderedLong.supports(limit.dataType)) None
      else {
        val number = OrderedLong(limit).eval().asInstanceOf[Long]
        val signed = if (isNegated) SaturatedSum.negated(number) else number
        val inUnits =
          if (isUpper) Math.floorDiv(signed, unit)
          else SaturatedSum.negated(Math.floorDiv(SaturatedSum.negated(signed), unit))
        Some(WholeDifference(conjunct, left, right, isUpper, inUnits, Some(most).filter(_ => mayWrap)))
      }
    def floating(left: Expression, right: Expression, rounding: Double): Option[Difference] = {
      val number = limit.value match { case n: Number => n.doubleValue; case _ => Double.NaN }
      if (left.dataType != right.dataType || number.isNaN || number.isInfinite) None
      else Some(FloatingDifference(conjunct, left, right, isUpper, if (isNegated) -number else number, rounding))
    }
    difference match {
      case minus: Subtract => minus.dataType match {
          case ByteType => whole(minus.left, minus.right, Byte.MaxValue)
          case ShortType => whole(minus.left, minus.right, Short.MaxValue)
          case IntegerType | _: YearMonthIntervalType => whole(minus.left, minus.right, Int.MaxValue)
          case LongType | _: DayTimeIntervalType => whole(minus.left, minus.right, Long.MaxValue)
          case FloatType => floating(minus.left, minus.right, FloatRounding)
          case DoubleType => floating(minus.left, minus.right, DoubleRounding)
          case decimal: DecimalType if isOfOneScale(decimal, minus.left, minus.right, limit) =>
            whole(minus.left, minus.right, Long.MaxValue)
          case _ => None
        }
      case DateDiff(end, start) => whole(end, start, Int.MaxValue)
      case minus: SubtractDates if !minus.legacyInterval =>
        whole(minus.left, minus.right, Long.MaxValue / MICROS_PER_DAY, MICROS_PER_DAY)
      case minus: SubtractTimestamps if !minus.legacyInterval =>
        whole(local(minus.left, minus.timeZoneId), local(minus.right, minus.timeZoneId), Long.MaxValue)
      case _ => None
    }
  }

  private def isOfOneOrder(a: DataType, b: DataType): Boolean = (a, b) match {
    case (a: DecimalType, b: DecimalType) => a.scale == b.scale
    case _ => a == b
  }

  private def isOfOneScale(result: DecimalType, terms: Expression*): Boolean =
    result.precision <= Decimal.MAX_LONG_DIGITS && terms.map(_.dataType).forall {
      case decimal: DecimalType => decimal.scale == result.scale
      case _ => false
    }

  /**
   * A timestamp as local time. Spark subtracts the local times of two timestamps, and clock changes make these uneven.
   */
  private def local(timestamp: Expression, zone: Option[String]): Expression = timestamp.dataType match {
    case TimestampType => Cast(timestamp, TimestampNTZType, zone)
    case _ => timestamp
  }

  private val DoubleRounding = math.pow(2, -53)
  private val FloatRounding = math.pow(2, -24)
}
