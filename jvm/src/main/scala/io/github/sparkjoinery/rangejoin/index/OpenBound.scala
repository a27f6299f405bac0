package io.github.sparkjoinery.rangejoin.index

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DataType

/**
 * The term of a comparison that some rows match without, such as `valid_to` in `ts < valid_to OR valid_to IS NULL`. An
 * open row is filed as the first or last long, which is within every bound of the other side. A row with NULL is filed
 * as the opposite long: it can match open rows of the other side, and no others.
 *
 * @param isOpen
 *   whether a row matches without, over the columns of the term's side; false where only the other side has such rows
 * @param isUpper
 *   whether the term bounds the other side's from above
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
