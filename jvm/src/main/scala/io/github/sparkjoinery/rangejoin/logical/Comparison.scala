package io.github.sparkjoinery.rangejoin.logical

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, Or}
import org.apache.spark.sql.types.DataType

import io.github.sparkjoinery.planning.terms.MayFail

/** A part of a join's condition that compares a term of the left side with one of the right side. */
private[rangejoin] sealed trait Comparison {

  /** The conjunct that holds the comparison. */
  def conjunct: Expression

  /** True if the comparison bounds the left term from above. */
  def leftIsLess: Boolean

  /** The type of the terms, which the index has to support. */
  def dataType: DataType

  /**
   * True if every candidate that the index finds satisfies the comparison. Otherwise the conjunct is tested as well.
   */
  def isExact: Boolean

  /** True if the indexed rows have to be points. */
  def needsPoints: Boolean

  /** True if the comparison is of use without another one that bounds the other end. */
  def worksAlone: Boolean

  /** True if the two comparisons are of use together. */
  def worksWith(other: Comparison): Boolean = worksAlone && other.worksAlone

  def bound(rightIsIndexed: Boolean): RangeBound
}

/** `left < right`, `<=`, `>` or `>=`. */
private[rangejoin] case class Inequality(
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

  /** A term as a long. If the term fails, the long lies within every bound of the other side. */
  def long(ofLeft: Boolean): Expression =
    if (ofLeft == leftIsLess) RangeLong.lower(term(ofLeft)) else RangeLong.upper(term(ofLeft))

  def term(ofLeft: Boolean): Expression = if (ofLeft) left else right

  private def isOpen: Boolean = Seq(left, right).exists(_.isInstanceOf[OpenBound])

  /**
   * This comparison in an OR with conditions that each read one side.
   *
   * @param mayBeNull
   *   true if a term may be NULL in a match
   */
  def unless(ofLeft: Seq[Expression], ofRight: Seq[Expression], mayBeNull: Expression => Boolean): Inequality = {
    def open(term: Expression, isOpen: Seq[Expression], ofOther: Seq[Expression], isUpper: Boolean): Expression =
      if (isOpen.isEmpty && (ofOther.isEmpty || !mayBeNull(term))) term
      else OpenBound(term, isOpen.reduceOption(Or).getOrElse(Literal.FalseLiteral), isUpper)
    copy(
      left = open(left, ofLeft, ofRight, isUpper = !leftIsLess),
      right = open(right, ofRight, ofLeft, isUpper = leftIsLess))
  }
}

private[rangejoin] object Inequality {

  /** None if the types of the terms differ: the order of their longs may differ, too. */
  def apply(
      conjunct: Expression,
      left: Expression,
      right: Expression,
      leftIsLess: Boolean,
      strict: Boolean): Option[Inequality] =
    if (left.dataType == right.dataType) Some(new Inequality(conjunct, left, right, leftIsLess, strict)) else None
}

/**
 * `left - right <= limit`, or `>=`, in whole numbers of units, days or microseconds. The comparison becomes `left <=
 * right + limit`, computed without overflow.
 *
 * @param leftIsLess
 *   true if the limit is an upper one
 * @param reach
 *   the largest distance of two terms whose difference cannot wrap around; terms further apart are candidates. None if
 *   the difference fails instead
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

  override protected def offset: BoundOffset = WholeOffset(limit, reach)
}

/**
 * A limit on a difference in floating point. The bounds are a little wider, because floating point rounds. An infinite
 * or NaN difference violates one of two opposite limits, but may satisfy a single one. The comparison therefore works
 * only together with the opposite limit on the same difference.
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

  override protected def offset: BoundOffset = RoundedOffset(limit, leftIsLess, rounding)
}

private[rangejoin] sealed trait Difference extends Comparison {
  def left: Expression
  def right: Expression

  /** True if both limit the same difference. */
  def isOfTheTermsOf(other: Difference): Boolean = left.semanticEquals(other.left) && right.semanticEquals(other.right)

  /** The same comparison, stated of `right - left`. */
  def turned: Difference

  /** The offset from the right term to the bound of the left term. */
  protected def offset: BoundOffset
  override def dataType: DataType = left.dataType
  override def isExact: Boolean = false
  override def needsPoints: Boolean = true
  override def bound(rightIsIndexed: Boolean): RangeBound =
    if (rightIsIndexed) RangeBound(left, right, strict = false, offset.reversed)
    else RangeBound(right, left, strict = false, offset)
}
