package io.github.sparkjoinery.filters.runtime

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.util.TypeUtils

/**
 * The smallest and the largest values of terms. A term that raises an error for a row has no bounds, because that row
 * may match any other.
 *
 * @param terms
 *   terms that are bound to the rows
 */
class Extremes(terms: Seq[Expression]) extends Serializable {
  @transient private lazy val orders = terms.map(term => TypeUtils.getInterpretedOrdering(term.dataType)).toArray
  private val least = new Array[Any](terms.length)
  private val most = new Array[Any](terms.length)
  private val isUnbounded = new Array[Boolean](terms.length)

  def add(row: InternalRow): Unit = for (i <- terms.indices) {
    try {
      val value = terms(i).eval(row)
      if (value != null) widen(i, value, value)
    } catch { case NonFatal(_) => isUnbounded(i) = true }
  }

  def merge(other: Extremes): Extremes = {
    for (i <- terms.indices) {
      isUnbounded(i) ||= other.isUnbounded(i)
      if (other.least(i) != null) widen(i, other.least(i), other.most(i))
    }
    this
  }

  /** The smallest and the largest value of a term; None if no row has a value, or a row raised an error. */
  def boundsOf(term: Int): Option[(Any, Any)] =
    if (isUnbounded(term) || least(term) == null) None else Some((least(term), most(term)))

  private def widen(i: Int, low: Any, high: Any): Unit = {
    if (least(i) == null || orders(i).lt(low, least(i))) least(i) = low
    if (most(i) == null || orders(i).gt(high, most(i))) most(i) = high
  }
}
