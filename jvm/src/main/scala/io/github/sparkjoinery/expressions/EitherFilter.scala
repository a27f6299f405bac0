package io.github.sparkjoinery.expressions

import org.apache.spark.sql.catalyst.expressions._

/** Combines two filters: a stored one, and one of the keys that have been added since. */
case class EitherFilter(stored: Expression, added: Expression) extends BinaryExpression with KeyFilterExpression
  with Unevaluable {
  override def left: Expression = stored
  override def right: Expression = added
  override def toString: String = s"$stored and $added"

  override def keyFilter: KeyFilter = EitherKeyFilter(partOf(stored).keyFilter, partOf(added).keyFilter)
  override def isSelective: Boolean = partOf(stored).isSelective && partOf(added).isSelective

  private def partOf(filter: Expression) = filter.asInstanceOf[KeyFilterExpression]

  override protected def withNewChildrenInternal(newLeft: Expression, newRight: Expression): EitherFilter =
    copy(stored = newLeft, added = newRight)
}
