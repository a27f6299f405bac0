package io.github.sparkjoinery.rangejoin

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.joinery.FloatingPointKeys

import io.github.sparkjoinery.expressions.OrderedLong
import io.github.sparkjoinery.planning.MayFail

/** A comparison of a term of the left side with one of the right: `left < right`, and so on. */
private[rangejoin] case class Comparison(
    conjunct: Expression,
    left: Expression,
    right: Expression,
    leftIsLess: Boolean,
    strict: Boolean)

/**
 * The condition of a join, as far as a range join can use it: key pairs, the comparisons that stand between the two
 * sides, and everything else.
 */
private[rangejoin] class RangeConditions(join: Join) extends PredicateHelper {

  val (leftKeys, rightKeys, others) = join match {
    case ExtractEquiJoinKeys(_, left, right, rest, _, _, _, _) =>
      (left.map(FloatingPointKeys.normalize), right.map(FloatingPointKeys.normalize), conjuncts(rest))
    case _ => (Nil, Nil, conjuncts(join.condition))
  }

  val comparisons: Seq[Comparison] = others.flatMap {
    case conjunct @ LessThan(a, b) => between(conjunct, a, b, strict = true)
    case conjunct @ LessThanOrEqual(a, b) => between(conjunct, a, b, strict = false)
    case conjunct @ GreaterThan(a, b) => between(conjunct, b, a, strict = true)
    case conjunct @ GreaterThanOrEqual(a, b) => between(conjunct, b, a, strict = false)
    case _ => None
  }

  /** Those whose types have an index. */
  val usable: Seq[Comparison] = comparisons.filter(comparison => OrderedLong.supports(comparison.left.dataType))

  private def conjuncts(condition: Option[Expression]) = condition.toSeq.flatMap(splitConjunctivePredicates)

  /** `less < greater`, if one is of the left side and the other of the right. */
  private def between(conjunct: Expression, less: Expression, greater: Expression, strict: Boolean) =
    if (less.dataType != greater.dataType) None // longs of two types need not be in one order
    else if (isOf(less, join.left.outputSet) && isOf(greater, join.right.outputSet))
      Some(Comparison(conjunct, less, greater, leftIsLess = true, strict))
    else if (isOf(less, join.right.outputSet) && isOf(greater, join.left.outputSet))
      Some(Comparison(conjunct, greater, less, leftIsLess = false, strict))
    else None

  /** A subquery's result need not be there yet when the index is built. */
  private def isOf(term: Expression, side: AttributeSet): Boolean =
    term.references.nonEmpty && term.references.subsetOf(side) && term.deterministic &&
      !SubqueryExpression.hasSubquery(term)

  /** The terms for an index on one side, if there is a usable comparison. */
  def terms(buildSide: BuildSide): Option[RangeTerms] = {
    val rightIsIndexed = buildSide == BuildRight
    def bound(comparison: Comparison) =
      if (rightIsIndexed) RangeBound(comparison.left, comparison.right, comparison.strict)
      else RangeBound(comparison.right, comparison.left, comparison.strict)
    val (lowers, uppers) = usable.partition(_.leftIsLess == rightIsIndexed)
    val chosen = choose(uppers.map(c => Side(c, bound(c))), lowers.map(c => Side(c, bound(c))))
    chosen.map { case (upper, lower) =>
      val used = (upper ++ lower).map(_.comparison.conjunct).toSeq
      val residual = if (used.exists(MayFail(_))) others else others.filterNot(used.contains)
      RangeTerms(
        if (rightIsIndexed) leftKeys else rightKeys,
        if (rightIsIndexed) rightKeys else leftKeys,
        upper.map(_.bound),
        lower.map(_.bound),
        residual.reduceOption(And)
      )
    }
  }

  private case class Side(comparison: Comparison, bound: RangeBound)

  /**
   * The two bounds that leave the fewest candidates, as far as their form tells: two on one term of the indexed side,
   * whose point lies in the probe's interval, or two of one term of the probe, whose point lies in the indexed
   * interval; then any two, as of intervals that overlap; then one.
   */
  private def choose(uppers: Seq[Side], lowers: Seq[Side]): Option[(Option[Side], Option[Side])] = {
    val pairs = for (upper <- uppers; lower <- lowers) yield (upper, lower)
    pairs.find { case (upper, lower) => upper.bound.indexed.semanticEquals(lower.bound.indexed) }
      .orElse(pairs.find { case (upper, lower) => upper.bound.probe.semanticEquals(lower.bound.probe) })
      .orElse(pairs.headOption)
      .map { case (upper, lower) => (Some(upper), Some(lower)) }
      .orElse(uppers.headOption.map(upper => (Some(upper), None)))
      .orElse(lowers.headOption.map(lower => (None, Some(lower))))
  }
}
