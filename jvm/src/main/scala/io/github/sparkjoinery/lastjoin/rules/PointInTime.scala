package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.analysis.SimpleAnalyzer
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation}
import org.apache.spark.sql.execution.datasources.ApplyCharTypePadding
import org.apache.spark.sql.types._

import io.github.sparkjoinery.lastjoin.logical.{LastJoinLeft, LastJoinRight}
import io.github.sparkjoinery.planning.JoineryException

/**
 * Builds `r <= time AND r >= time - tolerance`, where `r` is the first ORDER BY term; under DESC the other way round.
 * The right term is bare in both comparisons, so that operators can search by it.
 */
private[rules] object PointInTime {

  /** Returns the condition as a user would write it, before Spark casts both sides to one type. */
  def comparison(left: LastJoinLeft, right: LastJoinRight): Expression =
    comparison(
      right.order.headOption.getOrElse(JoineryException.fail(
        "AS_OF_WITHOUT_ORDER",
        "as_of is compared with the first ORDER BY term of the LAST JOIN, but there is none.",
        left.time.origin)),
      left
    )

  /** Returns the analyzed condition, for callers that run after the analyzer. */
  def resolved(left: LastJoinLeft, right: LastJoinRight): Expression = {
    val condition = comparison(left, right)
    val query = Filter(condition, LocalRelation(condition.references.toSeq))
    // The rule that a session's analyzer adds for comparisons.
    val analyzed = ApplyCharTypePadding(SimpleAnalyzer.execute(query))
    if (!analyzed.resolved) SimpleAnalyzer.checkAnalysis(analyzed)
    analyzed.expressions.head
  }

  private def comparison(first: SortOrder, left: LastJoinLeft): Expression = first.direction match {
    case Ascending =>
      val notAfter = LessThanOrEqual(first.child, left.time)
      left.tolerance.map(t => And(notAfter, GreaterThanOrEqual(first.child, minus(left.time, t, first)))).getOrElse(
        notAfter)
    case Descending =>
      val notBefore = GreaterThanOrEqual(first.child, left.time)
      left.tolerance.map(t => And(notBefore, LessThanOrEqual(first.child, plus(left.time, t, first)))).getOrElse(
        notBefore)
  }

  private def minus(time: Expression, tolerance: Expression, term: SortOrder): Expression =
    shift(time, tolerance, term) match {
      case Days(days) if days >= 0 =>
        If(LessThan(time, date(Int.MinValue + days)), date(Int.MinValue), DateSub(time, Literal(days)))
      case Days(days) => DateSub(time, Literal(days))
      case Clamped(t, amount, min, max) =>
        val (below, above) = (LessThan(t, new Add(min, amount)), GreaterThan(t, new Add(max, amount)))
        limit(amount, below, min, above, new Subtract(t, amount))
      case TimeOfDay(first, last) =>
        val (below, above) = (new Subtract(time, first), new Subtract(time, last))
        limit(
          tolerance,
          GreaterThan(tolerance, below),
          first,
          LessThan(tolerance, above),
          new Subtract(time, tolerance))
      case Zero => time
      case Plain => new Subtract(time, tolerance)
    }

  private def plus(time: Expression, tolerance: Expression, term: SortOrder): Expression =
    shift(time, tolerance, term) match {
      case Days(days) if days >= 0 =>
        If(GreaterThan(time, date(Int.MaxValue - days)), date(Int.MaxValue), DateAdd(time, Literal(days)))
      case Days(days) => DateAdd(time, Literal(days))
      case Clamped(t, amount, min, max) =>
        val (above, below) = (GreaterThan(t, new Subtract(max, amount)), LessThan(t, new Subtract(min, amount)))
        limit(amount, above, max, below, new Add(t, amount))
      case TimeOfDay(first, last) =>
        val (above, below) = (new Subtract(last, time), new Subtract(first, time))
        limit(tolerance, GreaterThan(tolerance, above), last, LessThan(tolerance, below), new Add(time, tolerance))
      case Zero => time
      case Plain => new Add(time, tolerance)
    }

  /**
   * Returns `end` or NULL instead of a sum beyond the ends of the type. A positive amount stops at the end of the type.
   * A negative amount may lead beyond the other end, to a limit that no value reaches, which is NULL here. Both tests
   * are only valid for amounts of their sign; for others they would overflow.
   */
  private def limit(
      amount: Expression,
      isBeyond: Expression,
      end: Literal,
      isOutOfReach: Expression,
      otherwise: Expression): Expression = {
    val isForward = GreaterThanOrEqual(amount, Literal.default(amount.dataType))
    val none = Literal(null, end.dataType)
    If(And(isForward, isBeyond), end, If(And(Not(isForward), isOutOfReach), none, otherwise))
  }

  private sealed trait Shift
  private case object Plain extends Shift

  /** The number 0, which is no distance in any type. */
  private case object Zero extends Shift

  /**
   * Whole days between dates. A date minus any other interval is a timestamp, and the right side would need a cast.
   * Dates stop at the ends of their type, where Spark's dates wrap around.
   */
  private case class Days(days: Int) extends Shift

  /** Integers, which stop at the ends of their type: there is no right value beyond, and the sum would overflow. */
  private case class Clamped(time: Expression, amount: Expression, min: Literal, max: Literal) extends Shift

  /** Times of day, which stop at the ends of the day, where Spark throws. */
  private case class TimeOfDay(first: Literal, last: Literal) extends Shift

  private def shift(time: Expression, tolerance: Expression, term: SortOrder): Shift =
    (time.dataType, tolerance.dataType) match {
      case (DateType, _: DayTimeIntervalType)
          if term.dataType == DateType && tolerance.foldable && tolerance.eval() != null =>
        Days(Math.floorDiv(tolerance.eval().asInstanceOf[Long], MicrosPerDay).toInt)
      case (t, a) if Ends.contains(t) && Ends.contains(a) =>
        val common = if (t.defaultSize >= a.defaultSize || fits(tolerance, t)) t else a
        val (min, max) = Ends(common)
        Clamped(cast(time, common), cast(tolerance, common), Literal.create(min, common), Literal.create(max, common))
      case (_: NumericType, _: NumericType) => Plain
      case (_, _: NumericType) if isZero(tolerance) => Zero
      case (t, _: DayTimeIntervalType) if t.typeName.startsWith("time(") => // TimeType, since Spark 4.1
        TimeOfDay(Literal(0L, t), Literal(NanosPerDay - 1, t))
      case (
            DateType | TimestampType | TimestampNTZType,
            _: DayTimeIntervalType | _: YearMonthIntervalType | CalendarIntervalType) => Plain
      case (t, a) => JoineryException.fail(
          "TOLERANCE_TYPE",
          s"The tolerance of a LAST JOIN as of a ${t.sql} cannot be a ${a.sql}. Use an interval for dates, times and " +
            "timestamps, a number for numbers; other types have no distance but 0.",
          tolerance.origin
        )
    }

  private def date(days: Int): Literal = Literal.create(days, DateType)

  private def isZero(tolerance: Expression): Boolean =
    tolerance.foldable && Cast(tolerance, DoubleType).eval() == 0.0

  private val MicrosPerDay = 24L * 60 * 60 * 1000 * 1000
  private val NanosPerDay = MicrosPerDay * 1000

  private val Ends: Map[DataType, (Any, Any)] = Map(
    ByteType -> ((Byte.MinValue, Byte.MaxValue)),
    ShortType -> ((Short.MinValue, Short.MaxValue)),
    IntegerType -> ((Int.MinValue, Int.MaxValue)),
    LongType -> ((Long.MinValue, Long.MaxValue))
  )

  private def cast(e: Expression, to: DataType): Expression = if (e.dataType == to) e else Cast(e, to)

  /** True if a constant fits into the type, so that neither the time nor the right side needs a cast. */
  private def fits(constant: Expression, to: DataType): Boolean = constant.foldable && (constant.eval() match {
    case n: Number =>
      (Ends(to)._2: @unchecked) match { case max: Number => n.longValue <= max.longValue && n.longValue >= 0 }
    case _ => false
  })
}
