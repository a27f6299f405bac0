package io.github.sparkjoinery.rangejoin.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import io.github.sparkjoinery.expressions.OrderedLong
import io.github.sparkjoinery.planning.terms.{MayFail, OnError}

/** The long by which an index sorts a term. The long never falls as the term rises. */
object RangeLong {

  def supports(dataType: DataType): Boolean = isExact(dataType) || LeadingLong.supports(dataType)

  /** True if different values have different longs. Otherwise the values of candidates are compared, too. */
  def isExact(dataType: DataType): Boolean = OrderedLong.supports(dataType)

  def apply(term: Expression, prefix: SharedPrefix = new SharedPrefix): Expression = term match {
    case open: OpenBound => If(open.isOpen, open.longOfOpen, Coalesce(Seq(apply(open.term, prefix), open.longOfNull)))
    case _ if isExact(term.dataType) => OrderedLong(term)
    case _ => LeadingLong(term, prefix)
  }

  /** The long of a term that bounds rows of the other side from below. A term that fails is within every bound. */
  def lower(term: Expression, prefix: SharedPrefix = new SharedPrefix): Expression =
    orElse(term, apply(term, prefix), Long.MinValue)

  /** The long of a term that bounds rows of the other side from above. A term that fails is within every bound. */
  def upper(term: Expression, prefix: SharedPrefix = new SharedPrefix): Expression =
    orElse(term, apply(term, prefix), Long.MaxValue)

  /** A long computed from a term, or another long if the term fails. */
  def orElse(term: Expression, long: Expression, ifFails: Long): Expression =
    if (mayFail(term)) OnError(long, Literal(ifFails)) else long

  def mayFail(term: Expression): Boolean = term match {
    case open: OpenBound => open.children.exists(MayFail(_))
    case _ => MayFail(term)
  }
}
