package io.github.sparkjoinery.rangejoin

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.joinery.FloatingPointKeys
import org.apache.spark.sql.types.{DataType, StringType}

import io.github.sparkjoinery.rangejoin.index.RangeLong

private[rangejoin] object RangeConditions extends PredicateHelper {

  /** Whether a join may have a comparison; false only where there is none. */
  def mayBeIn(join: Join): Boolean = join.condition.exists(mayBeIn)

  def mayBeIn(condition: Expression): Boolean = condition.exists {
    case _: LessThan | _: LessThanOrEqual | _: GreaterThan | _: GreaterThanOrEqual => true
    case _ => false
  }

  /**
   * A key as it is hashed and compared: -0.0 is 0.0, and strings that their collation makes equal are one. Spark's
   * optimizer sees to the latter only where it finds columns compared in the condition of a join.
   */
  private def byItsBytes(key: Expression): Expression = key.dataType match {
    case text: StringType if !UnsafeRowUtils.isBinaryStable(text) => CollationKey(key)
    case _ => FloatingPointKeys.normalize(key)
  }
}

/**
 * The condition of a join, as far as a range join can use it: key pairs, the comparisons that stand between the two
 * sides, and everything else.
 */
private[rangejoin] class RangeConditions(join: Join) extends PredicateHelper {

  val (leftKeys, rightKeys, others) = join match {
    case ExtractEquiJoinKeys(_, left, right, rest, _, _, _, _) =>
      (left.map(RangeConditions.byItsBytes), right.map(RangeConditions.byItsBytes), conjuncts(rest))
    case _ => (Nil, Nil, conjuncts(join.condition))
  }

  /** The type of a key whose equal values may have different bytes all the same, so that there is no looking it up. */
  val unequalBytes: Option[DataType] = leftKeys.map(_.dataType).find(!UnsafeRowUtils.isBinaryStable(_))

  val comparisons: Seq[Comparison] = others.flatMap(conjunct => comparisonsIn(conjunct, conjunct, Nil))

  /**
   * The comparisons in a part of a conjunct.
   *
   * @param ofOneSide
   *   conditions of one side that make the conjunct true without the part
   */
  private def comparisonsIn(conjunct: Expression, part: Expression, ofOneSide: Seq[Expression]): Seq[Comparison] = {
    val (more, ofBoth) = splitDisjunctivePredicates(part).partition(term => isOfLeft(term) || isOfRight(term))
    val open = ofOneSide ++ more
    ofBoth match {
      case Seq(both: And) => splitConjunctivePredicates(both).flatMap(comparisonsIn(conjunct, _, open))
      case Seq(compared) =>
        val (ofLeft, ofRight) = open.partition(isOfLeft)
        comparison(conjunct, compared).collect {
          case comparison if open.isEmpty => comparison
          case terms: Terms => terms.unless(ofLeft, ofRight, mayBeNull)
        }
      case _ => Nil
    }
  }

  /** Whether a term may be NULL in a match: no other part of the condition rules that out. */
  private def mayBeNull(term: Expression): Boolean = term.nullable && !others.exists {
    case _: EqualNullSafe => false
    case comparison: BinaryComparison => comparison.children.exists(_.semanticEquals(term))
    case IsNotNull(found) => found.semanticEquals(term)
    case _ => false
  }

  private def comparison(conjunct: Expression, compared: Expression): Seq[Comparison] = compared match {
    case LessThan(a, b) => between(conjunct, a, b, strict = true)
    case LessThanOrEqual(a, b) => between(conjunct, a, b, strict = false)
    case GreaterThan(a, b) => between(conjunct, b, a, strict = true)
    case GreaterThanOrEqual(a, b) => between(conjunct, b, a, strict = false)
    case _ => Nil
  }

  /** Those whose types have an index, the exact ones first. */
  val usable: Seq[Comparison] =
    comparisons.filter(comparison => RangeLong.supports(comparison.dataType)).sortBy(!_.isExact)

  private def conjuncts(condition: Option[Expression]) = condition.toSeq.flatMap(splitConjunctivePredicates)

  /** `less < greater`, if one is of the left side and the other of the right, or it limits a difference of the two. */
  private def between(
      conjunct: Expression,
      less: Expression,
      greater: Expression,
      strict: Boolean): Seq[Comparison] =
    if (isOfLeft(less) && isOfRight(greater)) Terms(conjunct, less, greater, leftIsLess = true, strict).toSeq
    else if (isOfRight(less) && isOfLeft(greater)) Terms(conjunct, greater, less, leftIsLess = false, strict).toSeq
    else Differences.of(conjunct, less, greater).flatMap(difference =>
      if (isOfLeft(difference.left) && isOfRight(difference.right)) Some(difference)
      else if (isOfRight(difference.left) && isOfLeft(difference.right)) Some(difference.turned)
      else None)

  private def isOfLeft(term: Expression): Boolean = isOf(term, join.left.outputSet)
  private def isOfRight(term: Expression): Boolean = isOf(term, join.right.outputSet)

  /** A subquery's result need not be there yet when the index is built. */
  private def isOf(term: Expression, side: AttributeSet): Boolean =
    term.references.nonEmpty && term.references.subsetOf(side) && term.deterministic &&
      !SubqueryExpression.hasSubquery(term)

  /** The terms for an index on one side, if there is a usable comparison. */
  def terms(buildSide: BuildSide): Option[RangeTerms] = {
    val rightIsIndexed = buildSide == BuildRight
    def side(comparison: Comparison) = Side(comparison, comparison.bound(rightIsIndexed))
    val (lowers, uppers) = usable.partition(_.leftIsLess == rightIsIndexed)
    val chosen = choose(uppers.map(side), lowers.map(side))
    chosen.filter(_ => unequalBytes.isEmpty).map { case (upper, lower) =>
      val used = (upper ++ lower).map(_.comparison).toSeq
      val decided = used.map(_.conjunct)
      val residual = if (used.forall(_.isExact)) others.filterNot(decided.contains) else others
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
   * interval; then any two, as of intervals that overlap; then one. Differences need points on the indexed side.
   */
  private def choose(uppers: Seq[Side], lowers: Seq[Side]): Option[(Option[Side], Option[Side])] = {
    val pairs =
      for (upper <- uppers; lower <- lowers if upper.comparison.worksWith(lower.comparison)) yield (upper, lower)
    val free = pairs.filterNot { case (upper, lower) => upper.comparison.needsPoints || lower.comparison.needsPoints }
    pairs.find { case (upper, lower) => upper.bound.indexed.semanticEquals(lower.bound.indexed) }
      .orElse(free.find { case (upper, lower) => upper.bound.probe.semanticEquals(lower.bound.probe) })
      .orElse(free.headOption)
      .map { case (upper, lower) => (Some(upper), Some(lower)) }
      .orElse(uppers.find(_.comparison.worksAlone).map(upper => (Some(upper), None)))
      .orElse(lowers.find(_.comparison.worksAlone).map(lower => (None, Some(lower))))
  }
}
