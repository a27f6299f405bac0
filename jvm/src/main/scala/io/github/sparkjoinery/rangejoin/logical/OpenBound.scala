package io.github.sparkjoinery.rangejoin.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DataType

/**
 * The term of a comparison that need not hold for some rows, such as `valid_to` in `ts < valid_to OR valid_to IS NULL`.
 * These rows are open. An open row has the first or last long, which is within every bound of the other side. A row
 * with NULL has the opposite long: it can match open rows of the other side, and no others.
 *
 * @param isOpen
 *   true if a row is open, over the columns of the term's side; false if only the other side has open rows
 * @param isUpper
 *   true if the term bounds the other side's from above
 */
private[rangejoin] case class OpenBound(term: Expression, isOpen: Expression, isUpper: Boolean)
  extends Expression with Unevaluable {
  override def children: Seq[Expression] = Seq(term, isOpen)
  override def dataType: DataType = term.dataType
  override def nullable: Boolean = true
  override def sql: String = shown(_.sql)
  override def toString: String = shown(_.toString)

  private def shown(as: Expression => String): String =
    if (isOpen == Literal.FalseLiteral) as(term) else s"(${as(term)} unless ${as(isOpen)})"

  def longOfOpen: Literal = beyond(isUpper)
  def longOfNull: Literal = beyond(!isUpper)

  private def beyond(isLast: Boolean) = Literal(if (isLast) Long.MaxValue else Long.MinValue)

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): OpenBound =
    copy(term = newChildren(0), isOpen = newChildren(1))
}
