package io.github.sparkjoinery.window.logical

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/**
 * Emits each row for its own part, and a copy of it for each other part whose frames may hold it.
 *
 * @param keyHash
 *   the hash of the row's key, see [[HotKey]]
 * @param time
 *   the row's time as a long
 * @param nullTime
 *   the long for NULL
 * @param hotKeys
 *   the hot keys as a [[HotKey.ManyType]]; NULL if no key is cut
 * @param source
 *   the number of parts and the source of the cuts, for EXPLAIN
 * @param part
 *   the added column. It has the label of the row's own part, or 0 for a key that is not cut. A copy has the label of
 *   the other part, negated.
 */
private[window] case class CopyRows(
    keyHash: Expression,
    time: Expression,
    nullTime: Long,
    hotKeys: Expression,
    source: String,
    part: Attribute,
    child: LogicalPlan)
  extends UnaryNode {
  override def output: Seq[Attribute] = child.output :+ part
  override def producedAttributes: AttributeSet = AttributeSet(part)
  override protected def withNewChildInternal(newChild: LogicalPlan): CopyRows = copy(child = newChild)
}
