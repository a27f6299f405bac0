package io.github.sparkjoinery.execution

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical.BroadcastMode

/**
 * Ships a relation as an array: its rows in the given order, then, in the same order, what each row is searched by. Those are
 * computed here once, not for each row that a search looks at.
 *
 * @param searchedBy expressions bound to the relation's output
 * @param order      sort orders bound to the relation's output, which begin with `searchedBy`
 */
case class SortedRowsBroadcastMode(searchedBy: Seq[Expression], order: Seq[SortOrder]) extends BroadcastMode {

  override def transform(rows: Array[InternalRow]): Array[InternalRow] = {
    // Stable, so that equal rows keep the order in which they came.
    java.util.Arrays.sort(rows, RowOrdering.create(order, Nil))
    val keyOf = UnsafeProjection.create(searchedBy)
    rows ++ rows.map(row => keyOf(row).copy(): InternalRow)
  }

  override def transform(rows: Iterator[InternalRow], sizeHint: Option[Long]): Array[InternalRow] =
    transform(rows.toArray)

  override def canonicalized: BroadcastMode =
    SortedRowsBroadcastMode(searchedBy.map(_.canonicalized), order.map(_.canonicalized.asInstanceOf[SortOrder]))
}

object SortedRowsBroadcastMode {
  /** The right side's rows, key after key, each key's rows in LAST JOIN's order. */
  def apply(terms: LastJoinTerms, output: Seq[Attribute]): SortedRowsBroadcastMode = SortedRowsBroadcastMode(
    BindReferences.bindReferences(terms.rightKeys ++ terms.asOfOrder.map(_.child), output),
    BindReferences.bindReferences(terms.rightKeys.map(SortOrder(_, Ascending)) ++ terms.order, output))
}

/**
 * Finds the candidates of a left row in what [[SortedRowsBroadcastMode]] shipped: O(log n), no memory of its own.
 */
class SortedRowsSearch(shipped: Array[InternalRow], terms: LastJoinTerms, left: Seq[Attribute]) {

  private val size = shipped.length / 2
  private def row(i: Int): InternalRow = shipped(i)
  private def searchedBy(i: Int): InternalRow = shipped(size + i)

  // What both sides are compared by: the keys, then the as-of term.
  private val probe = UnsafeProjection.create(terms.leftKeys ++ terms.asOf, left)
  private val keyFields = terms.rightKeys.zipWithIndex.map { case (key, i) =>
    SortOrder(BoundReference(i, key.dataType, nullable = true), Ascending)
  }
  private val keyOrdering = RowOrdering.create(keyFields, Nil)
  private val ordering = RowOrdering.create(keyFields ++ terms.asOfOrder.map(order =>
    order.copy(child = BoundReference(keyFields.length, order.dataType, nullable = true), sameOrderExpressions = Nil)), Nil)

  /** The last candidate that passes, trying backwards from the last, or null. */
  def lastMatch(leftRow: InternalRow, passes: (InternalRow, InternalRow) => Boolean): InternalRow = {
    val wanted = probe(leftRow)
    if (wanted.anyNull) return null // neither = nor <, <=, >, >= is ever true of NULL
    var i = lastUpTo(wanted)
    while (i >= 0 && keyOrdering.compare(searchedBy(i), wanted) == 0) {
      if (passes(leftRow, row(i))) return row(i)
      i -= 1
    }
    null
  }

  /** Index of the last row not beyond the one wanted (before it, if strict), or -1. */
  private def lastUpTo(wanted: InternalRow): Int = {
    var low = 0
    var high = size
    while (low < high) {
      val middle = (low + high) >>> 1
      val order = ordering.compare(searchedBy(middle), wanted)
      if (order < 0 || order == 0 && !terms.strict) low = middle + 1 else high = middle
    }
    low - 1
  }
}
