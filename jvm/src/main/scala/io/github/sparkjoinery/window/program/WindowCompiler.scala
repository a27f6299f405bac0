package io.github.sparkjoinery.window.program

import scala.collection.mutable

import org.apache.spark.SparkException
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.types._

import io.github.sparkjoinery.expressions.{OrderedLong, SumMode}

/**
 * Turns the functions of a window, all of which [[WindowSupport]] has passed, into a [[WindowProgram]].
 *
 * @param keepsColumns
 *   whether functions may have columns of all rows of a frame in memory; else Spark's expressions read the rows
 */
private[window] class WindowCompiler(order: Seq[SortOrder], keepsColumns: Boolean = true) {
  private val columns = mutable.ArrayBuffer.empty[Expression]
  private var needsPeers = false

  /**
   * Functions over frames that begin with the partition are computed row by row, as Spark does: what joins a sum is
   * never looked at again, and the sum may begin with what comes before the first row.
   */
  def compile(functions: Seq[WindowExpression]): WindowProgram = {
    val frames = functions.zipWithIndex.groupBy { case (window, _) => frameOf(window).canonicalized }.toSeq.sortBy(
      _._2.head._2).map { case (_, of) =>
      val frame = frameOf(of.head._1)
      val (lower, upper) = (bound(frame, frame.lower), bound(frame, frame.upper))
      val growing = frame.lower == UnboundedPreceding
      val overflow = Seq(frame.lower, frame.upper).filter(isOffset(frame, _)).map(RangeBound.of(order.head, _).get)
      FrameProgram(lower, upper, of.map { case (window, result) => function(window, result, growing) }, overflow)
    }
    WindowProgram(columns.toSeq, Option.when(needsPeers)(columns.length), frames, functions.map(_.dataType)) match {
      case program if needsPeers =>
        program.copy(frames = frames.map(frame =>
          frame.copy(lower = atPeers(frame.lower), upper = atPeers(frame.upper))))
      case program => program
    }
  }

  private def frameOf(window: WindowExpression): SpecifiedWindowFrame = window.windowFunction match {
    case offset: FrameLessOffsetWindowFunction => offset.fakeFrame
    case _ => window.windowSpec.frameSpecification.asInstanceOf[SpecifiedWindowFrame]
  }

  private def isOffset(frame: SpecifiedWindowFrame, bound: Expression): Boolean =
    frame.frameType == RangeFrame && !bound.isInstanceOf[SpecialFrameBoundary]

  private def bound(frame: SpecifiedWindowFrame, bound: Expression): Bound = (frame.frameType, bound) match {
    case (_, UnboundedPreceding | UnboundedFollowing) => Bound.Unbounded
    case (RowFrame, CurrentRow) => Bound.Rows(0)
    case (RowFrame, offset) => Bound.Rows(offset.eval().asInstanceOf[Int])
    case (RangeFrame, CurrentRow) => order match {
        case Seq(only) if OrderedLong.supports(only.dataType) =>
          val values = orderColumn
          Bound.Range(values, values, only.nullOrdering == NullsFirst)
        case _ => needsPeers = true; WindowCompiler.SomePeers
      }
    case (RangeFrame, offset) =>
      val value = RangeBound.of(order.head, offset).get
      Bound.Range(orderColumn, column(OrderedLong(TryEval(value), isDescending)), order.head.nullOrdering == NullsFirst)
  }

  private def atPeers(bound: Bound): Bound =
    if (bound == WindowCompiler.SomePeers) Bound.Peers(columns.length) else bound

  private def isDescending: Boolean = order.head.direction == Descending
  private def orderColumn: Int = column(OrderedLong(order.head.child, isDescending))

  private def column(expression: Expression): Int = {
    val known = columns.indexWhere(_.semanticEquals(expression))
    if (known >= 0) known else { columns += expression; columns.length - 1 }
  }

  private def function(window: WindowExpression, result: Int, growing: Boolean): FunctionProgram = {
    import FunctionProgram.{Count => Counted, _}
    window.windowFunction match {
      case offset: FrameLessOffsetWindowFunction => Offset(offset, result)
      case aggregate: AggregateWindowFunction => Growing(FilteredFunction(aggregate, None), result)
      case AggregateExpression(aggregate: DeclarativeAggregate, _, _, filter, _) =>
        def input(value: Expression): Int = column(filter.fold(value)(If(_, value, Literal(null, value.dataType))))
        def long(child: Expression) = if (child.dataType == LongType) child else Cast(child, LongType)
        def double(child: Expression) = if (child.dataType == DoubleType) child else Cast(child, DoubleType)
        aggregate match {
          case _ if growing => Growing(FilteredFunction(aggregate, filter), result)
          case _ if !keepsColumns => merged(aggregate, filter, guards(aggregate), input, result)
          case Count(children) =>
            val nullable = children.filter(_.nullable)
            val one = Literal(1L)
            val counted = if (nullable.isEmpty) one
            else If(nullable.map(IsNotNull(_)).reduce[Expression](And(_, _)), one, Literal(null, LongType))
            Counted(input(counted), result)
          case sum: Sum => sum.child.dataType match {
              case ByteType | ShortType | IntegerType | LongType =>
                val value = AttributeReference("value", LongType)()
                LongSum(input(long(sum.child)), checked(sum, value), value, result)
              case FloatType | DoubleType => DoubleSum(input(double(sum.child)), result)
              case _ => merged(aggregate, filter, guards(aggregate), input, result)
            }
          case average: Average => average.child.dataType match {
              case ByteType | ShortType | IntegerType | LongType => LongAverage(input(long(average.child)), result)
              case FloatType | DoubleType => DoubleAverage(input(double(average.child)), result)
              case _ => merged(aggregate, filter, guards(aggregate), input, result)
            }
          case Min(child) if isNumber(child) => extreme(input, child, isMax = false, result)
          case Max(child) if isNumber(child) => extreme(input, child, isMax = true, result)
          case _ => merged(aggregate, filter, guards(aggregate), input, result)
        }
      case other => throw SparkException.internalError(s"no kernel for $other, which WindowSupport lets pass")
    }
  }

  /** The sum as Spark has it, where it does not simply wrap. */
  private def checked(sum: Sum, value: Attribute): Option[DeclarativeAggregate] =
    Option.when(SumMode.of(sum) != EvalMode.LEGACY)(sum.copy(child = value))

  private def isNumber(child: Expression): Boolean = OrderedLong.supports(child.dataType)

  private def extreme(input: Expression => Int, child: Expression, isMax: Boolean, result: Int): FunctionProgram =
    child.dataType match {
      case FloatType => FunctionProgram.Extreme(input(Cast(child, DoubleType)), isMax, isDouble = true, result)
      case DoubleType => FunctionProgram.Extreme(input(child), isMax, isDouble = true, result)
      case _ => FunctionProgram.Extreme(input(OrderedLong(child)), isMax, isDouble = false, result)
    }

  private def merged(
      function: DeclarativeAggregate,
      filter: Option[Expression],
      guards: Seq[(Expression, Double)],
      input: Expression => Int,
      result: Int): FunctionProgram =
    FunctionProgram.Merged(
      FilteredFunction(function, filter),
      guards.map { case (value, limit) => (input(value), limit) },
      result)

  /** Where the order of additions may decide: what is added, as a double, and from which sum on. */
  private def guards(function: DeclarativeAggregate): Seq[(Expression, Double)] = function match {
    case sum: Sum => sum.child.dataType match {
        case ByteType | ShortType | IntegerType | LongType =>
          if (SumMode.of(sum) == EvalMode.LEGACY) Nil // it wraps, in any order
          else Seq((Cast(sum.child, DoubleType), WindowCompiler.LongSumsFit))
        case FloatType | DoubleType => Seq(finite(sum.child))
        case _ => overflows(sum, sum.child).toSeq
      }
    case average: Average => average.child.dataType match {
        case ByteType | ShortType | IntegerType | LongType => Nil
        case FloatType | DoubleType => Seq(finite(average.child))
        case _ => overflows(average, average.child).toSeq
      }
    case _: Count | _: Min | _: Max => Nil
    case _ => moments(function)
  }

  /** What is infinite already makes a sum infinite, or NaN, in any order. */
  private def finite(child: Expression): (Expression, Double) = {
    val value = if (child.dataType == DoubleType) child else Cast(child, DoubleType)
    val isFinite = And(
      LessThanOrEqual(value, Literal(Double.MaxValue)),
      GreaterThanOrEqual(value, Literal(-Double.MaxValue)))
    (If(isFinite, value, Literal(0.0)), Double.MaxValue / 2)
  }

  /**
   * Of variances and the like: infinite values, and those whose powers are, make a difference between rows added and
   * partial results merged.
   */
  private def moments(function: DeclarativeAggregate): Seq[(Expression, Double)] = function match {
    case _: First | _: Last | _: MaxMinBy => Nil
    case _ if function.aggBufferAttributes.exists(_.dataType == DoubleType) =>
      function.children.filter(_.dataType.isInstanceOf[NumericType]).map(child =>
        (Cast(child, DoubleType), WindowCompiler.FourthPowersFit))
    case _ => Nil
  }

  /**
   * What is summed, as a double, and the least sum that its type cannot hold; None where that takes more rows than a
   * partition has.
   */
  private def overflows(function: DeclarativeAggregate, child: Expression): Option[(Expression, Double)] =
    function.aggBufferAttributes.head.dataType match {
      case sum: DecimalType =>
        val needed = child.dataType.asInstanceOf[DecimalType].precision + WindowCompiler.DigitsOfRows
        Option.when(needed > sum.precision)((Cast(child, DoubleType), math.pow(10, sum.precision - sum.scale)))
      case _: YearMonthIntervalType => Some((Cast(OrderedLong(child), DoubleType), Int.MaxValue.toDouble))
      case _: DayTimeIntervalType => Some((Cast(OrderedLong(child), DoubleType), Long.MaxValue.toDouble))
      case _ => None
    }
}

private[window] object WindowCompiler {
  private val DigitsOfRows = 10 // a partition has fewer than ten to this
  private val FourthPowersFit = 1e70
  private val LongSumsFit = 9.2e18
  private val SomePeers = Bound.Peers(-1)
}
