package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.expressions.{Expression, Unevaluable}
import org.apache.spark.sql.catalyst.trees.TreePattern.TreePattern
import org.apache.spark.sql.types.{BooleanType, DataType}

/**
 * The condition of an ASOF JOIN. It is one expression and not a conjunction. Spark therefore gives the operands of the
 * comparison one type, but casts neither `operands` nor an ON that is not boolean.
 *
 * @param comparison
 *   the MATCH_CONDITION
 * @param operands
 *   both operands of the comparison as written; empty if `comparison` is not a comparison
 * @param on
 *   the condition after ON, or the equalities of USING
 */
case class AsOfMatch(comparison: Expression, operands: Seq[Expression], on: Option[Expression])
  extends Expression with Unevaluable {
  override val nodePatterns: Seq[TreePattern] = Seq(LastJoin.Pattern)
  override def children: Seq[Expression] = (comparison +: operands) ++ on
  override def dataType: DataType = BooleanType
  override def nullable: Boolean = true
  override def prettyName: String = "match_condition"
  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): AsOfMatch = {
    val (newOperands, newOn) = newChildren.tail.splitAt(operands.length)
    AsOfMatch(newChildren.head, newOperands, newOn.headOption)
  }
}

object AsOfMatch {

  /** @param comparison the MATCH_CONDITION as parsed, before Spark casts its operands to one type */
  def fromTerms(comparison: Expression, on: Option[Expression]): AsOfMatch =
    AsOfMatch(comparison, if (AsOfComparison.isAsOf(comparison)) comparison.children else Nil, on)
}
