package io.github.sparkjoinery.execution

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{Join, JoinHint}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.joinery.FloatingPointKeys

import io.github.sparkjoinery.logical.LastJoin

/**
 * The ON and ORDER BY of a LAST JOIN, taken apart for execution.
 *
 * @param leftKeys  keys of the left side; equal, pair by pair, to `rightKeys` on every match
 * @param rightKeys keys of the right side
 * @param order     ORDER BY and a tie-breaker, over the right side
 * @param asOf      the `l` of `r <= l` (or `r < l`), where r is the first ORDER BY term ascending, or of `r >= l`
 *                  (`r > l`), where r is that term descending: then the candidates of a left row are those up
 *                  to a place in the order
 * @param strict    whether that comparison is `<` or `>`
 * @param residual  everything in ON but the keys, the as-of comparison included
 */
case class LastJoinTerms(
    leftKeys: Seq[Expression],
    rightKeys: Seq[Expression],
    order: Seq[SortOrder],
    asOf: Option[Expression],
    strict: Boolean,
    residual: Option[Expression]) {

  /** The ORDER BY term that `asOf` is compared with. */
  def asOfOrder: Option[SortOrder] = asOf.map(_ => order.head)

  /** Whether ON says nothing beyond keys and the as-of comparison. */
  def asOfOnly: Boolean = asOf.isDefined && residual.exists(!_.isInstanceOf[And])
}

object LastJoinTerms extends PredicateHelper {

  def of(join: LastJoin): LastJoinTerms = {
    val (keys, residual) = equalities(join)
    val asOf = join.order.headOption.flatMap { first =>
      residual.collectFirst(Function.unlift(asOfBound(join, first)))
    }
    LastJoinTerms(
      leftKeys = keys.map(_._1),
      rightKeys = keys.map(_._2),
      order = join.order ++ tieBreaker(join),
      asOf = asOf.map(_._1),
      strict = asOf.exists(_._2),
      residual = residual.reduceOption(And))
  }

  /** Key pairs, and the conjuncts of ON that are none. */
  private def equalities(join: LastJoin): (Seq[(Expression, Expression)], Seq[Expression]) = {
    val conjuncts = join.condition.toSeq.flatMap(splitConjunctivePredicates)
    val (candidates, others) = conjuncts.partition {
      case Equality(l, r) => isKey(l) && isKey(r)
      case _ => false
    }
    // Spark's own extractor, for what it knows of NULL-safe equality and constant sides.
    Join(join.left, join.right, LeftOuter, candidates.reduceOption(And), JoinHint.NONE) match {
      case ExtractEquiJoinKeys(_, leftKeys, rightKeys, rest, _, _, _, _) =>
        val normalized = leftKeys.map(FloatingPointKeys.normalize).zip(rightKeys.map(FloatingPointKeys.normalize))
        (normalized, rest.toSeq.flatMap(splitConjunctivePredicates) ++ others)
      case _ => (Nil, conjuncts)
    }
  }

  /**
   * Keys are hashed by their bytes and sorted: types for which either means something else are compared by ON itself. So are
   * keys with a subquery, whose result need not be there yet when the right side is sorted for its broadcast.
   */
  private def isKey(key: Expression): Boolean =
    UnsafeRowUtils.isBinaryStable(key.dataType) && RowOrdering.isOrderable(key.dataType) &&
      !SubqueryExpression.hasSubquery(key)

  private def asOfBound(join: LastJoin, first: SortOrder)(predicate: Expression): Option[(Expression, Boolean)] = {
    def bound(right: Expression, left: Expression, strict: Boolean): Option[(Expression, Boolean)] =
      Option.when(right.semanticEquals(first.child) && right.dataType == left.dataType && left.references.nonEmpty &&
        canEvaluate(left, join.left))((left, strict))

    (predicate, first.direction) match {
      case (LessThanOrEqual(r, l), Ascending) => bound(r, l, strict = false)
      case (GreaterThanOrEqual(l, r), Ascending) => bound(r, l, strict = false)
      case (LessThan(r, l), Ascending) => bound(r, l, strict = true)
      case (GreaterThan(l, r), Ascending) => bound(r, l, strict = true)
      case (GreaterThanOrEqual(r, l), Descending) => bound(r, l, strict = false)
      case (LessThanOrEqual(l, r), Descending) => bound(r, l, strict = false)
      case (GreaterThan(r, l), Descending) => bound(r, l, strict = true)
      case (LessThan(l, r), Descending) => bound(r, l, strict = true)
      case _ => None
    }
  }

  /**
   * Rows that ORDER BY leaves tied arrive in any order after a shuffle. A hash of the whole row decides, so
   * that a retried task picks the same row; it is evaluated only where rows are tied.
   */
  private def tieBreaker(join: LastJoin): Option[SortOrder] = {
    val hashed = join.right.output.filter(a => UnsafeRowUtils.isBinaryStable(a.dataType) && RowOrdering.isOrderable(a.dataType))
    Option.when(hashed.nonEmpty)(SortOrder(new XxHash64(hashed), Ascending))
  }
}
