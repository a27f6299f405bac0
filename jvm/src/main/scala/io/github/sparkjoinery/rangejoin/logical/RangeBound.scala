package io.github.sparkjoinery.rangejoin.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{BooleanType, DataType}

/**
 * One comparison of the condition, between a term of the streamed side and one of the indexed side.
 *
 * @param probe
 *   over the streamed side
 * @param indexed
 *   over the indexed side; its longs (`OrderedLong`) are in one order with those of `probe`
 * @param strict
 *   true if the two must not be equal
 * @param offset
 *   from `probe` to where the bound is
 */
case class RangeBound(probe: Expression, indexed: Expression, strict: Boolean, offset: BoundOffset = NoOffset)
  extends Expression with Unevaluable {
  override def children: Seq[Expression] = Seq(probe, indexed)
  override def dataType: DataType = BooleanType
  override def nullable: Boolean = true
  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): RangeBound =
    copy(probe = newChildren(0), indexed = newChildren(1))

  /** Returns the bound with the sides swapped, for an index on the other side. */
  def reversed: RangeBound = copy(probe = indexed, indexed = probe, offset = offset.reversed)

  /** The bound as a long, or another long where the bound fails. */
  def long(ifFails: Long, prefix: SharedPrefix = new SharedPrefix): Expression =
    RangeLong.orElse(probe, offset.bound(probe, prefix), ifFails)
}
