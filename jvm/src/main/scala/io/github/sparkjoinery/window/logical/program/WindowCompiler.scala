package io.github.sparkjoinery.window.logical.program

import scala.collection.mutable

import org.apache.spark.SparkException
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.types._

import io.github.sparkjoinery.expressions.OrderedLong

/**
 * Compiles the functions of a window into a [[WindowProgram]]. [[WindowSupport]] has accepted all of them.
 *
 * @param keepsColumns
 *   true if functions may use columns of all rows of a frame in memory; else Spark's expressions read the rows
 */
private[window] class WindowCompiler(order: Seq[SortOrder], keepsColumns: Boolean = true) {
  private val columns = mutable.ArrayBuffer.empty[Expression]
  private var needsPeers = false

  /**
   * Compiles the functions. Functions over frames that begin with the partition are updated row by row, as in Spark.
   * Their frames never lose a row, and they may start from an aggregate of the rows before the first row.
   */
  def compile(functions: Seq[WindowExpression]): WindowProgram = {
    val frames = functions.zipWithIndex.groupBy { case (window, _) => frameOf(window).canonicalized }.toSeq.sortBy(
      _._2.head._2).map { case (_, of) =>
      val frame = frameOf(of.head._1)
      val (lower, upper) = (bound(frame, frame.lower), bound(frame, frame.upper))
      val growing = frame.lower == UnboundedPreceding
      val overflow =
        Seq(frame.lower, frame.upper).filter(isOffset(frame, _)).map(RangeFrameBound.bound(order.head, _).get)
      FrameProgram(lower, upper, of.map { case (window, result) => function(window, result, growing) }, overflow)
    }
    WindowProgram(
      columns.toVector,
      if (needsPeers) Some(columns.length) else None,
      frames,
      functions.map(_.dataType)) match {
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
      val value = RangeFrameBound.bound(order.head, offset).get
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
          case _ if !keepsColumns => merged(aggregate, filter, result)
          case Count(children) =>
            val nullable = children.filter(_.nullable)
            val one = Literal(1L)
            val counted = if (nullable.isEmpty) one
            else If(nullable.map(IsNotNull(_)).reduce[Expression](And(_, _)), one, Literal(null, LongType))
            Counted(input(counted), result)
          case sum: Sum => sum.child.dataType match {
              case ByteType | ShortType | IntegerType | LongType =>
                val overflow = if (ExactSum.isNeeded(sum)) Some(ExactSum.overflow(sum)) else None
                LongSum(input(long(sum.child)), overflow, result)
              case FloatType | DoubleType => DoubleSum(input(double(sum.child)), result)
              case _ => merged(aggregate, filter, result)
            }
          case average: Average => average.child.dataType match {
              case ByteType | ShortType | IntegerType | LongType => LongAverage(input(long(average.child)), result)
              case FloatType | DoubleType => DoubleAverage(input(double(average.child)), result)
              case _ => merged(aggregate, filter, result)
            }
          case Min(child) if isNumber(child) => extreme(input, child, isMax = false, result)
          case Max(child) if isNumber(child) => extreme(input, child, isMax = true, result)
          case _ => merged(aggregate, filter, result)
        }
      case other => throw SparkException.internalError(s"no kernel for $other, which WindowSupport lets pass")
    }
  }

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
      result: Int): FunctionProgram = {
    val filtered =
      if (ExactSum.isNeeded(function)) ExactSum(function, filter) else FilteredFunction(function, filter)
    val extreme = extremes(function).map(condition => filter.fold(condition)(And(_, condition)))
    FunctionProgram.Merged(filtered, extreme.reduceOption(Or(_, _)), result)
  }

  /**
   * Returns conditions for values that make the result depend on the order of additions. For sums these are large
   * finite values; an infinite value gives the same result in any order. For variances and similar functions these are
   * infinite values and all values with infinite fourth powers.
   */
  private def extremes(function: DeclarativeAggregate): Seq[Expression] = function match {
    case _: Count | _: Min | _: Max | _: First | _: Last | _: MaxMinBy => Nil
    case _: Sum | _: Average =>
      function.children.filter(_.dataType == DoubleType).map(isBetween(_, WindowCompiler.SumsFit, Double.MaxValue))
    case _ if function.aggBufferAttributes.exists(_.dataType == DoubleType) =>
      function.children.filter(_.dataType.isInstanceOf[NumericType]).map(child =>
        isBetween(Cast(child, DoubleType), WindowCompiler.FourthPowersFit, Double.PositiveInfinity))
    case _ => Nil
  }

  /** True if the absolute value is in (above, most]. False for NaN, which is greater than all numbers. */
  private def isBetween(value: Expression, above: Double, most: Double): Expression = {
    val size = Abs(value)
    And(GreaterThan(size, Literal(above)), LessThanOrEqual(size, Literal(most)))
  }
}

private[window] object WindowCompiler {

  /** Values up to this size never overflow in a sum, because a partition has too few rows. */
  val SumsFit = 1e290
  private val FourthPowersFit = 1e70
  private val SomePeers = Bound.Peers(-1)
}
