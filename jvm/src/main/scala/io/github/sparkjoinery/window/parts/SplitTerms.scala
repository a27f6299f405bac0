package io.github.sparkjoinery.window.parts

import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval

import io.github.sparkjoinery.expressions.{OrderedLong, SumMode}
import io.github.sparkjoinery.window.program.{BoundSettings, RangeBound, SortKey}

/**
 * What a part of a hot key needs beside its own rows, for all frames of a window: its halo.
 *
 * @param keys
 *   the window's PARTITION BY
 * @param hash
 *   a long; rows of one key have one hash. That two keys may share it only makes both of them hot
 * @param order
 *   its ORDER BY; parts are cut along the first term
 * @param rowsBefore
 *   how many rows before the part; so rowsAfter
 * @param bounds
 *   of RANGE frames, as longs in the order of the sort; NULL where there is none
 * @param shifts
 *   how far each bound is from its row's time if arithmetic does not wrap around; None where it cannot
 * @param carries
 *   whether a frame begins with the partition, so that something is carried into each part
 * @param countsDays
 *   whether a bound is some days from its row's in local time
 * @param settings
 *   that the bounds are made under
 */
private[window] case class SplitTerms(
    keys: Seq[Expression],
    hash: Expression,
    order: Seq[SortOrder],
    rowsBefore: Int,
    rowsAfter: Int,
    bounds: Seq[Expression],
    shifts: Seq[Option[Long]],
    carries: Boolean,
    countsDays: Boolean,
    settings: BoundSettings) {

  @transient lazy val time: SortKey = SortKey(order.head) // asked for each row

  /**
   * On the driver, before keys are cut: whether the tasks of the query that runs will have these bounds. Else a frame
   * may hold rows that no halo has.
   */
  def hold: Boolean = {
    val ofTasks = BoundSettings.ofTasks
    (!countsDays || ofTasks.daysAreEqual) && (!mayOverflow || ofTasks.isAnsi == settings.isAnsi)
  }

  private def mayOverflow: Boolean = bounds.nonEmpty && (order.head.dataType match {
    case ByteType | ShortType | IntegerType | LongType => true
    case _ => false
  })

  /** By the places of the columns: the same for equal terms over two copies of a plan. */
  def normalized(columns: Seq[Attribute]): SplitTerms = {
    def placed[E <: Expression](e: E): E = QueryPlan.normalizeExpressions(e, columns)
    copy(keys = keys.map(placed(_)), hash = placed(hash), order = order.map(placed(_)), bounds = bounds.map(placed(_)))
  }
}

private[window] object SplitTerms {

  /** @return or why a window cannot be cut */
  def of(keys: Seq[Expression], order: Seq[SortOrder], functions: Seq[WindowExpression]): Either[String, SplitTerms] =
    if (order.isEmpty) Left("it has no ORDER BY to be cut along")
    else if (!OrderedLong.supports(order.head.dataType))
      Left(s"its first ORDER BY column is of type ${order.head.dataType.sql}")
    else if (!keys.forall(key => UnsafeRowUtils.isBinaryStable(key.dataType)))
      Left("keys of this collation may be equal and have different hashes")
    else functions.flatMap(reasonAgainst(_, order)).headOption.toLeft(()).flatMap { _ =>
      val (rows, ranges) = functions.map(frameOf).partition(_.frameType == RowFrame)
      val offsets = rows.flatMap(frame => Seq(frame.lower, frame.upper)).collect {
        case bound if !bound.isInstanceOf[SpecialFrameBoundary] => bound.eval().asInstanceOf[Int]
      }
      val distances = ranges.flatMap(frame => Seq(frame.lower, frame.upper)).filterNot(
        _.isInstanceOf[SpecialFrameBoundary])
      val bounds = distances.map { bound =>
        OrderedLong(TryEval(RangeBound.of(order.head, bound).get), order.head.direction == Descending) -> shift(
          order.head.dataType,
          bound)
      }.distinctBy(_._1.canonicalized)
      val (before, after) = ((0L +: offsets.map(-_.toLong)).max, (0 +: offsets).max)
      if (math.max(before, after) > MostHaloRows) Left(s"a frame reaches more than $MostHaloRows rows beyond its row")
      else {
        val hash = new XxHash64(if (keys.isEmpty) Seq(Literal(0)) else keys)
        val carries = functions.exists(frameOf(_).lower == UnboundedPreceding)
        Right(SplitTerms(
          keys,
          hash,
          order,
          before.toInt,
          after,
          bounds.map(_._1),
          bounds.map(_._2),
          carries,
          distances.exists(countsDays(order.head.dataType, _)),
          BoundSettings.now
        ))
      }
    }

  private val MostHaloRows = 100000 // each part holds them, of each hot key

  private def shift(dataType: DataType, offset: Expression): Option[Long] =
    (dataType, offset.dataType, offset.eval()) match {
      case (DateType, _: DayTimeIntervalType, micros: Long) => Some(micros / MICROS_PER_DAY)
      case (DateType, IntegerType, days: Int) => Some(days)
      case (ByteType | ShortType | IntegerType | LongType, _, number: Number) => Some(number.longValue)
      case _ => None
    }

  private def frameOf(window: WindowExpression): SpecifiedWindowFrame = window.windowFunction match {
    case offset: FrameLessOffsetWindowFunction => offset.fakeFrame
    case _ => window.windowSpec.frameSpecification.asInstanceOf[SpecifiedWindowFrame]
  }

  private def reasonAgainst(window: WindowExpression, order: Seq[SortOrder]): Option[String] = {
    val frame = frameOf(window)
    val notMonotone = frame.frameType == RangeFrame && Seq(frame.lower, frame.upper).exists { bound =>
      !bound.isInstanceOf[SpecialFrameBoundary] && !isMonotone(order.head.dataType, bound)
    }
    if (frame.upper == UnboundedFollowing && frame.lower != UnboundedPreceding)
      Some("a frame reaches from a row to the end of its partition")
    else if (notMonotone)
      Some(s"RANGE with this offset from values of type ${order.head.dataType.sql} need not grow with the value")
    else if (frame.lower == UnboundedPreceding) carryReason(window, order)
    else None
  }

  /** Why what comes before a part cannot be carried into it: it has to be the same in whatever order rows are added. */
  private def carryReason(window: WindowExpression, order: Seq[SortOrder]): Option[String] =
    window.windowFunction match {
      case _: DenseRank => Option.when(order.length > 1)("dense_rank over several ORDER BY terms")
      case AggregateExpression(sum: Sum, _, _, _, _)
          if sum.child.dataType == LongType && SumMode.of(sum) != EvalMode.LEGACY &&
            frameOf(window).upper == UnboundedFollowing =>
        Some("whether a whole partition's sum overflows depends on the order of additions") // from its first row on
      case AggregateExpression(sum: Sum, _, _, _, _) =>
        Option.when(SumMode.of(sum) == EvalMode.TRY || !commutes(sum.child))(
          "whether a sum overflows depends on the order of additions")
      case AggregateExpression(average: Average, _, _, _, _) => Option.when(!commutes(average.child))(
          "whether an average overflows depends on the order of additions")
      case AggregateExpression(extreme @ (_: Min | _: Max), _, _, _, _) =>
        Option.when(!UnsafeRowUtils.isBinaryStable(extreme.children.head.dataType))(
          s"${extreme.prettyName} keeps the first of values that are equal and not the same")
      case AggregateExpression(
            _: Count | _: CentralMomentAgg | _: Corr | _: Covariance | _: BitAggregate,
            _,
            _,
            _,
            _) => None
      case AggregateExpression(other, _, _, _, _) =>
        Some(s"${other.prettyName} over a growing frame depends on the order of rows")
      case _ => None
    }

  /** Longs are carried as decimals. */
  private def commutes(child: Expression): Boolean = child.dataType match {
    case decimal: DecimalType => decimal.precision + 10 <= DecimalType.MAX_PRECISION
    case _: YearMonthIntervalType | _: DayTimeIntervalType => false
    case _ => true
  }

  /**
   * Whether a greater value never has a lesser bound. Months and days have different lengths, and what is infinitely
   * far from an infinite value is NaN, the greatest.
   */
  private def isMonotone(dataType: DataType, offset: Expression): Boolean = {
    def isEven = !countsDays(dataType, offset) || BoundSettings.now.daysAreEqual
    (dataType, offset.eval()) match {
      case (DateType | ByteType | ShortType | IntegerType | LongType, _) =>
        true // unless it wraps around, which a sample tells
      case (FloatType, by: Float) => !by.isNaN && !by.isInfinite
      case (DoubleType, by: Double) => !by.isNaN && !by.isInfinite
      case (_: DecimalType | FloatType | DoubleType, _) => true
      case (TimestampType | TimestampNTZType, interval: CalendarInterval) =>
        interval.months == 0 && isEven
      case (TimestampType | TimestampNTZType, _: Long) => isEven
      case _ => false
    }
  }

  /** Whether a bound moves local time, which clocks show, and not only the instant. */
  private def countsDays(dataType: DataType, offset: Expression): Boolean =
    dataType == TimestampType && (offset.eval() match {
      case interval: CalendarInterval => interval.days != 0
      case micros: Long => micros <= -MICROS_PER_DAY || micros >= MICROS_PER_DAY // the least has no absolute value
      case _ => false
    })
}
