package io.github.sparkjoinery.rangejoin.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{BooleanType, DataType}

import io.github.sparkjoinery.execution.rows.RowGrouping

/**
 * The condition of a range join, taken apart for an index on one of its sides. A pair of rows is a match if their keys
 * are equal, and both bounds and the residual condition hold.
 *
 * @param streamedKeys
 *   keys of the streamed side; equal, pair by pair, to `indexedKeys` on every match
 * @param indexedKeys
 *   keys of the indexed side
 * @param upper
 *   `indexed <= probe`
 * @param lower
 *   `indexed >= probe`; there is this one, or `upper`, or both
 * @param residual
 *   the condition that is tested on each candidate: without keys, and without the bounds if these decide exactly
 */
case class RangeTerms(
    streamedKeys: Seq[Expression],
    indexedKeys: Seq[Expression],
    upper: Option[RangeBound],
    lower: Option[RangeBound],
    residual: Option[Expression]) extends Expression with Unevaluable {

  // One expression, so that an operator has one argument for all of it, and Spark's rules find every term.
  override def children: Seq[Expression] = streamedKeys ++ indexedKeys ++ upper ++ lower ++ residual
  override def dataType: DataType = BooleanType
  override def nullable: Boolean = false

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): RangeTerms = {
    val terms = newChildren.iterator
    def several(old: Seq[Expression]): Seq[Expression] = old.map(_ => terms.next())
    def bound(old: Option[RangeBound]): Option[RangeBound] = old.map(_ => terms.next().asInstanceOf[RangeBound])
    copy(several(streamedKeys), several(indexedKeys), bound(upper), bound(lower), residual.map(_ => terms.next()))
  }

  /** True if the indexed rows are intervals, false if they are points. */
  def hasIntervals: Boolean = upper.isDefined && lower.isDefined && !upper.get.indexed.semanticEquals(lower.get.indexed)

  def bounds: Seq[RangeBound] = upper.toSeq ++ lower

  /** The sort key of the indexed rows: the start of an interval, or a point. */
  def start: Expression = bounds.head.indexed

  /** The end of an indexed interval. */
  def end: Option[Expression] = lower.filter(_ => hasIntervals).map(_.indexed)

  /** The same terms with the other side indexed. */
  def reversed: RangeTerms =
    RangeTerms(indexedKeys, streamedKeys, lower.map(_.reversed), upper.map(_.reversed), residual)

  /**
   * The order of the indexed rows.
   *
   * @param output
   *   columns of the indexed side
   * @param keepsAll
   *   true if the join emits rows of it that match nothing
   */
  def layout(output: Seq[Attribute], keepsAll: Boolean): RangeLayout = RangeLayout(
    BindReferences.bindReferences(indexedKeys, output),
    BindReferences.bindReference(start, output),
    end.map(BindReferences.bindReference(_, output)),
    keepsAll,
    output.length
  )

  // the terms by which a streamed row is looked up

  def longKey: Option[Expression] = RowGrouping.longKey(streamedKeys)
  def lowerLong(prefix: SharedPrefix): Expression = probeLong(lower, prefix, Long.MinValue)
  def upperLong(prefix: SharedPrefix): Expression = probeLong(upper, prefix, Long.MaxValue)

  /**
   * Pairs of a point and a reach, for conditions on differences that wrap around. The bounds decide only if all indexed
   * points are within the reach of the point. Otherwise all rows are candidates.
   */
  def reaches: Seq[(Expression, Long)] = bounds
    .flatMap(bound => bound.offset.reach.map(reach => (RangeLong.lower(bound.probe), reach)))
    .foldLeft(Vector.empty[(Expression, Long)]) { case (found, (point, reach)) =>
      if (found.exists { case (other, same) => same == reach && other.semanticEquals(point) }) found
      else found :+ (point -> reach)
    }

  private def probeLong(bound: Option[RangeBound], prefix: SharedPrefix, unbounded: Long): Expression =
    bound.map(_.long(unbounded, prefix)).getOrElse(Literal(unbounded))

  /** The terms as SQL, for EXPLAIN. */
  def boundsSql: Seq[String] =
    upper.map(b => s"${b.indexed.sql} ${if (b.strict) "<" else "<="} ${b.probe.sql}${b.offset.sql}").toSeq ++
      lower.map(b => s"${b.indexed.sql} ${if (b.strict) ">" else ">="} ${b.probe.sql}${b.offset.sql}")
}
