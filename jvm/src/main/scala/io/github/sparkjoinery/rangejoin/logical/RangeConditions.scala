package io.github.sparkjoinery.rangejoin.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.joinery.Collations
import org.apache.spark.sql.joinery.FloatingPointKeys
import org.apache.spark.sql.types.{DataType, StringType}

private[rangejoin] object RangeConditions extends PredicateHelper {

  /** False only if the condition has no comparison. The test is cheap, and true is not certain. */
  def mayBeIn(join: Join): Boolean = join.condition.exists(mayBeIn)

  def mayBeIn(condition: Expression): Boolean = condition.exists {
    case _: LessThan | _: LessThanOrEqual | _: GreaterThan | _: GreaterThanOrEqual => true
    case _ => false
  }

  /**
   * A key in the form that is hashed and compared by its bytes: -0.0 becomes 0.0, a collated string its collation key.
   * Spark's optimizer replaces collated strings only if the condition of a join compares columns.
   */
  private def byItsBytes(key: Expression): Expression = key.dataType match {
    case text: StringType if !Collations.isBinaryStable(text) => Collations.key(key)
    case _ => FloatingPointKeys.normalize(key)
  }
}

/**
 * The condition of a join, taken apart for a range join: key pairs, the other conjuncts, and comparisons of the two
 * sides in those.
 */
private[rangejoin] class RangeConditions(join: Join) extends PredicateHelper {

  val (leftKeys, rightKeys, others) = join match {
    case ExtractEquiJoinKeys(_, left, right, rest, _, _, _, _) =>
      (left.map(RangeConditions.byItsBytes), right.map(RangeConditions.byItsBytes), conjuncts(rest))
    case _ => (Nil, Nil, conjuncts(join.condition))
  }

  /**
   * The type of a key whose equal values may have different bytes even after normalization. Such keys cannot be looked
   * up.
   */
  val unequalBytes: Option[DataType] = leftKeys.map(_.dataType).find(!Collations.isBinaryStable(_))

  val comparisons: Seq[Comparison] = others.flatMap(conjunct => comparisonsIn(conjunct, conjunct, Nil))

  /**
   * Finds the comparisons in a part of a conjunct.
   *
   * @param ofOneSide
   *   conditions on one side; any of them makes the conjunct true without the part
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
          case terms: Inequality => terms.unless(ofLeft, ofRight, mayBeNull)
        }
      case _ => Nil
    }
  }

  /** True if a term may be NULL in a match, because no other conjunct rules that out. */
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

  /** The comparisons whose types can be indexed, exact ones first. */
  val usable: Seq[Comparison] =
    comparisons.filter(comparison => RangeLong.supports(comparison.dataType)).sortBy(!_.isExact)

  private def conjuncts(condition: Option[Expression]) = condition.toSeq.flatMap(splitConjunctivePredicates)

  /**
   * Reads `less < greater`: a comparison of a left and a right term, or a limit on the difference of two such terms.
   */
  private def between(
      conjunct: Expression,
      less: Expression,
      greater: Expression,
      strict: Boolean): Seq[Comparison] =
    if (isOfLeft(less) && isOfRight(greater)) Inequality(conjunct, less, greater, leftIsLess = true, strict).toSeq
    else if (isOfRight(less) && isOfLeft(greater)) Inequality(conjunct, greater, less, leftIsLess = false, strict).toSeq
    else DifferenceReader.find(conjunct, less, greater).flatMap(difference =>
      if (isOfLeft(difference.left) && isOfRight(difference.right)) Some(difference)
      else if (isOfRight(difference.left) && isOfLeft(difference.right)) Some(difference.turned)
      else None)

  private def isOfLeft(term: Expression): Boolean = isOf(term, join.left.outputSet)
  private def isOfRight(term: Expression): Boolean = isOf(term, join.right.outputSet)

  /**
   * True if a term reads this side only. A term with a subquery does not count: its result may be missing when the
   * index is built.
   */
  private def isOf(term: Expression, side: AttributeSet): Boolean =
    term.references.nonEmpty && term.references.subsetOf(side) && term.deterministic &&
      !SubqueryExpression.hasSubquery(term)

  /** The condition taken apart for an index on this side, if there is a usable comparison. */
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
   * Chooses the bounds that leave the fewest candidates, judged by their form:
   *   1. two bounds on one term of the indexed side, which is a point in the interval of the probe;
   *   1. two bounds by one term of the probe, which is a point in the indexed interval;
   *   1. any two bounds, such as those of intervals that overlap;
   *   1. one bound.
   *
   * Differences need points on the indexed side, so the second and third forms exclude them.
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
