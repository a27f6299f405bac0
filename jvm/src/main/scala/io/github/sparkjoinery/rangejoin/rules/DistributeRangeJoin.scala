package io.github.sparkjoinery.rangejoin.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.JOIN
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.planning.plans.PartsByQuantiles
import io.github.sparkjoinery.rangejoin.logical.{
  Comparison,
  Difference,
  Inequality,
  OpenBound,
  RangeConditions,
  RangeJoinType,
  RangeLong
}
import io.github.sparkjoinery.rangejoin.stored.StoredRangeSide

/**
 * Distributes a range join without an equality, if neither side is small enough to index on the driver. The range is
 * cut into parts at quantiles. An interval is copied to each part that it touches, and the part becomes the key
 * ([[RangeJoinInParts]]).
 */
object DistributeRangeJoin extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!JoineryConf.rangeJoinEnabled || conf.numShufflePartitions < 2) plan
    else {
      plan.foreach(SubqueryLimit.markJoinsBelow)
      plan.transformUpWithPruning(_.containsPattern(JOIN)) {
        case join: Join if isCandidate(join) =>
          val sides = suitable(join, pairs(join, new RangeConditions(join)))
          sides.fold[LogicalPlan](join) { case (left, right) => new RangeJoinInParts(join, left, right).plan }
      }
    }

  /** True if the join that a subquery becomes may be a range join. */
  def concerns(subquery: SubqueryExpression): Boolean = subquery.children.exists(RangeConditions.mayBeIn(_))

  /** The reason why a join without an equality, whose sides are both large, is not cut into parts. */
  private[rangejoin] def whyWhole(join: Join, conditions: RangeConditions): String =
    if (conf.numShufflePartitions < 2) "there is one shuffle partition"
    else PartsByQuantiles.missing(join).orElse(pairs(join, conditions).headOption.flatMap(unreadable(join, _)))
      .getOrElse("two comparisons, one for each end, are what tells the parts of a row")

  private def unreadable(join: Join, pair: (SideToCut, SideToCut)): Option[String] =
    RangeJoinInParts.unreadable(join.joinType, pair._1, pair._2)

  private def isCandidate(join: Join): Boolean = {
    val hints = (join.hint.leftHint ++ join.hint.rightHint).flatMap(_.strategy)
    RangeJoinType.supports(join.joinType) && RangeConditions.mayBeIn(join) && hints.isEmpty &&
    !SubqueryLimit.isAbove(join) && PartsByQuantiles.missing(join).isEmpty && join.condition.exists(
      _.deterministic) &&
    Seq(join.left, join.right).forall(side =>
      !side.isInstanceOf[StoredRangeSide] && side.stats.sizeInBytes > RangeJoinStrategy.limit)
  }

  /** The two sides as each pair of comparisons describes them. Empty if the join has an equality. */
  private def pairs(join: Join, conditions: RangeConditions): Seq[(SideToCut, SideToCut)] =
    if (conditions.leftKeys.nonEmpty) Nil
    else {
      val (uppers, lowers) = conditions.usable.partition(_.leftIsLess)
      for (upper <- uppers; lower <- lowers; sides <- sidesOf(join, upper, lower)) yield sides
    }

  private def sidesOf(join: Join, upper: Comparison, lower: Comparison): Option[(SideToCut, SideToCut)] =
    (upper, lower) match {
      case (upper: Inequality, lower: Inequality) if upper.dataType == lower.dataType =>
        Some((
          comparedSide(join.left, lower, upper, isLeft = true),
          comparedSide(join.right, lower, upper, isLeft = false)))
      case (upper: Difference, lower: Difference) if upper.isOfTheTermsOf(lower) && upper.worksWith(lower) =>
        Some(pointAndLimits(join, upper, lower))
      case _ => None
    }

  /** A side of two comparisons. For points, both have the same term. */
  private def comparedSide(
      relation: LogicalPlan,
      lower: Inequality,
      upper: Inequality,
      isLeft: Boolean): SideToCut = {
    val terms = Seq(lower, upper).sortBy(_.term(isLeft).isInstanceOf[OpenBound]) // the first term makes the cuts
    val Seq(first, last) = terms.map(_.term(isLeft))
    SideToCut(relation, terms.map(_.long(isLeft)), first.semanticEquals(last) && !RangeLong.mayFail(first))
  }

  /** The two sides of a difference: the left term as a point, and the limits that the right term sets for it. */
  private def pointAndLimits(join: Join, upper: Difference, lower: Difference): (SideToCut, SideToCut) = {
    val bounds = Seq(lower, upper).map(_.bound(rightIsIndexed = false))
    // The difference of two terms that are at most this far from 0 cannot wrap around.
    val near = bounds.flatMap(_.offset.reach).reduceOption(_ min _).map(_ / 2)
    def unlessFar(term: Expression, longs: Seq[Expression]): Seq[Expression] = near.fold(longs) { near =>
      val number = RangeLong.lower(term)
      val isFar = Or(GreaterThan(number, Literal(near)), LessThan(number, Literal(-near)))
      longs.zip(Everywhere).map { case (long, far) => If(isFar, Literal(far), long) }
    }
    val points = Seq(RangeLong.lower(upper.left), RangeLong.upper(upper.left))
    val limits = bounds.zip(Everywhere).map { case (bound, ifFails) => bound.long(ifFails) }
    (
      SideToCut(
        join.left,
        unlessFar(upper.left, points),
        isPoint = near.isEmpty && !RangeLong.mayFail(upper.left)),
      SideToCut(join.right, unlessFar(upper.right, limits), isPoint = false))
  }

  private val Everywhere = Seq(Long.MinValue, Long.MaxValue)

  /** Chooses the first readable pair with the most sides that are points: points are not copied. */
  private def suitable(
      join: Join,
      pairs: Seq[(SideToCut, SideToCut)]): Option[(SideToCut, SideToCut)] = {
    val readable = pairs.filter(unreadable(join, _).isEmpty)
    def decided(pair: (SideToCut, SideToCut)) = Seq(pair._1, pair._2).count(_.isPoint)
    if (readable.isEmpty) None else Some(readable.maxBy(decided))
  }
}
