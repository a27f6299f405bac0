package io.github.sparkjoinery.rangejoin

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, Or}
import org.apache.spark.sql.types.DataType

import io.github.sparkjoinery.planning.MayFail
import io.github.sparkjoinery.rangejoin.index.{OpenBound, RangeLong}

/** A part of a join's condition that says how a term of the left side lies to one of the right. */
private[rangejoin] sealed trait Comparison {

  /** The part that says so. */
  def conjunct: Expression

  /** Whether the term of the left side is the one that has an upper bound. */
  def leftIsLess: Boolean

  /** The type that an index has to know. */
  def dataType: DataType

  /** Whether all that an index finds satisfies it; else the conjunct is tested as well. */
  def isExact: Boolean

  /** Whether the indexed rows have to be points. */
  def needsPoints: Boolean

  /** Whether it is of use without another one that bounds the other end. */
  def worksAlone: Boolean

  /** Whether it is of use together with this one. */
  def worksWith(other: Comparison): Boolean = worksAlone && other.worksAlone

  def bound(rightIsIndexed: Boolean): RangeBound
}

/** `left < right`, and so on. */
private[rangejoin] case class Terms(
    conjunct: Expression,
    left: Expression,
    right: Expression,
    leftIsLess: Boolean,
    strict: Boolean) extends Comparison {
  override def dataType: DataType = left.dataType
  override def isExact: Boolean = RangeLong.isExact(dataType) && !isOpen && !MayFail(conjunct)
  override def needsPoints: Boolean = false
  override def worksAlone: Boolean = true
  override def bound(rightIsIndexed: Boolean): RangeBound = {
    val isStrict = strict && isExact
    if (rightIsIndexed) RangeBound(left, right, isStrict) else RangeBound(right, left, isStrict)
  }

  /** A term as a long; where the term fails, the long that is within every bound of the other side. */
  def long(ofLeft: Boolean): Expression =
    if (ofLeft == leftIsLess) RangeLong.lower(term(ofLeft)) else RangeLong.upper(term(ofLeft))

  def term(ofLeft: Boolean): Expression = if (ofLeft) left else right

  private def isOpen: Boolean = Seq(left, right).exists(_.isInstanceOf[OpenBound])

  /**
   * This comparison in an OR with conditions that each read one side.
   *
   * @param mayBeNull
   *   whether a term may be NULL in a match
   */
  def unless(ofLeft: Seq[Expression], ofRight: Seq[Expression], mayBeNull: Expression => Boolean): Terms = {
    def open(term: Expression, isOpen: Seq[Expression], ofOther: Seq[Expression], isUpper: Boolean): Expression =
      if (isOpen.isEmpty && (ofOther.isEmpty || !mayBeNull(term))) term
      else OpenBound(term, isOpen.reduceOption(Or).getOrElse(Literal.FalseLiteral), isUpper)
    copy(
      left = open(left, ofLeft, ofRight, isUpper = !leftIsLess),
      right = open(right, ofRight, ofLeft, isUpper = leftIsLess))
  }
}

private[rangejoin] object Terms {

  /** None for two types, whose longs need not be in one order. */
  def apply(
      conjunct: Expression,
      left: Expression,
      right: Expression,
      leftIsLess: Boolean,
      strict: Boolean): Option[Terms] =
    if (left.dataType == right.dataType) Some(new Terms(conjunct, left, right, leftIsLess, strict)) else None
}

/**
 * `left - right <= limit`, or `>=`, in whole numbers: of units, days or microseconds. It becomes `left <= right +
 * limit` in numbers without end.
 *
 * @param leftIsLess
 *   whether the difference has an upper limit
 * @param reach
 *   terms that are further apart have to be looked at, as their difference wraps around; None if it fails instead
 */
private[rangejoin] case class WholeDifference(
    conjunct: Expression,
    left: Expression,
    right: Expression,
    leftIsLess: Boolean,
    limit: Long,
    reach: Option[Long]) extends Difference {
  override def worksAlone: Boolean = true

  override def turned: Difference =
    copy(left = right, right = left, leftIsLess = !leftIsLess, limit = SaturatedSum.negated(limit))

  override protected def shift: Shift = WholeShift(limit, reach)
}

/**
 * The same in floating point, which rounds: the bounds are a little wider. An infinite or undefined difference is
 * beyond one of two finite limits, but not beyond every one, so this works only with the other limit of the same one.
 *
 * @param rounding
 *   the relative error of a sum or difference
 */
private[rangejoin] case class FloatingDifference(
    conjunct: Expression,
    left: Expression,
    right: Expression,
    leftIsLess: Boolean,
    limit: Double,
    rounding: Double) extends Difference {
  override def worksAlone: Boolean = false
  override def worksWith(other: Comparison): Boolean = other match {
    case that: FloatingDifference => isOfTheTermsOf(that)
    case _ => false
  }
  override def turned: Difference = copy(left = right, right = left, leftIsLess = !leftIsLess, limit = -limit)

  override protected def shift: Shift = RoundedShift(limit, leftIsLess, rounding)
}

private[rangejoin] sealed trait Difference extends Comparison {
  def left: Expression
  def right: Expression

  /** Whether the two limit the same difference. */
  def isOfTheTermsOf(other: Difference): Boolean = left.semanticEquals(other.left) && right.semanticEquals(other.right)

  /** The same said of `right - left`. */
  def turned: Difference

  /** From the right term to the bound of the left one. */
  protected def shift: Shift
  override def dataType: DataType = left.dataType
  override def isExact: Boolean = false
  override def needsPoints: Boolean = true
  override def bound(rightIsIndexed: Boolean): RangeBound =
    if (rightIsIndexed) RangeBound(left, right, strict = false, shift.reversed)
    else RangeBound(right, left, strict = false, shift)
}
