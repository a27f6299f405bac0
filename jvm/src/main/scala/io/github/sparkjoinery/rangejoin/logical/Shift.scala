package io.github.sparkjoinery.rangejoin.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, DoubleType, LongType}

import io.github.sparkjoinery.expressions.OrderedLong

/** The offset from a term of the stream side to its bound, from a condition on the difference of two terms. */
private[rangejoin] sealed trait Shift {

  /** The bound as a long, in the order of the terms' longs. */
  def bound(probe: Expression, prefix: SharedPrefix): Expression

  /** The offset for the term of the indexed side, if the two sides swap roles. */
  def reversed: Shift

  /**
   * The largest distance of two terms whose difference cannot wrap around. Terms further apart are candidates,
   * regardless of the bounds.
   */
  def reach: Option[Long]

  def sql: String
}

private[rangejoin] case object NoShift extends Shift {
  override def bound(probe: Expression, prefix: SharedPrefix): Expression = RangeLong(probe, prefix)
  override def reversed: Shift = this
  override def reach: Option[Long] = None
  override def sql: String = ""
}

/** An offset in whole numbers of units, days or microseconds. */
private[rangejoin] case class WholeShift(by: Long, reach: Option[Long]) extends Shift {
  override def bound(probe: Expression, prefix: SharedPrefix): Expression =
    SaturatedSum(OrderedLong(probe), by)
  override def reversed: Shift = copy(by = SaturatedSum.negated(by))
  override def sql: String = if (by < 0) s" - ${SaturatedSum.negated(by)}" else s" + $by"
}

/**
 * An offset in floating point. The bound is a little wider, because floating point rounds.
 *
 * @param isUpper
 *   true if the bound is an upper one
 * @param rounding
 *   the relative error of a sum or difference
 */
private[rangejoin] case class RoundedShift(by: Double, isUpper: Boolean, rounding: Double) extends Shift {
  override def bound(probe: Expression, prefix: SharedPrefix): Expression =
    OrderedLong(RoundedSum(Cast(probe, DoubleType), by, isUpper, rounding))
  override def reversed: Shift = copy(by = -by, isUpper = !isUpper)
  override def reach: Option[Long] = None
  override def sql: String = if (by < 0) s" - ${-by}" else s" + $by"
}

/** Adds a constant to a long. A sum beyond the range of longs becomes the least or greatest long. */
private[rangejoin] case class SaturatedSum(child: Expression, by: Long) extends UnaryExpression {
  override def nullIntolerant: Boolean = true
  override def dataType: DataType = LongType
  override protected def nullSafeEval(value: Any): Any = SaturatedSum.add(value.asInstanceOf[Long], by)
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    defineCodeGen(ctx, ev, value => s"${classOf[SaturatedSum].getName}.add($value, ${by}L)")
  override protected def withNewChildInternal(newChild: Expression): SaturatedSum = copy(child = newChild)
}

object SaturatedSum {
  def add(value: Long, by: Long): Long = {
    val sum = value + by
    if (((value ^ sum) & (by ^ sum)) >= 0) sum else if (by < 0) Long.MinValue else Long.MaxValue
  }

  def negated(value: Long): Long = if (value == Long.MinValue) Long.MaxValue else -value
}

/** Adds a constant to a double, and widens the sum by more than the rounding error. */
private[rangejoin] case class RoundedSum(child: Expression, by: Double, isUpper: Boolean, rounding: Double)
  extends UnaryExpression {
  override def nullIntolerant: Boolean = true
  override def dataType: DataType = DoubleType

  override protected def nullSafeEval(value: Any): Any =
    RoundedSum.add(value.asInstanceOf[Double], by, isUpper, rounding)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    def constant(name: String, value: Double) = ctx.addReferenceObj(name, value, "Double")
    val (shift, error) = (constant("by", by), constant("rounding", rounding))
    defineCodeGen(ctx, ev, value => s"${classOf[RoundedSum].getName}.add($value, $shift, $isUpper, $error)")
  }

  override protected def withNewChildInternal(newChild: Expression): RoundedSum = copy(child = newChild)
}

object RoundedSum {

  /**
   * The slack covers three roundings: of the difference, of this sum and of the slack. It is twice as large as needed,
   * and larger near zero.
   */
  def add(value: Double, by: Double, isUpper: Boolean, rounding: Double): Double = {
    val slack = (math.abs(value) + math.abs(by)) * (rounding * 8) + LeastSlack
    if (isUpper) value + by + slack else value + by - slack
  }

  private val LeastSlack = java.lang.Float.MIN_VALUE.toDouble * 8
}
