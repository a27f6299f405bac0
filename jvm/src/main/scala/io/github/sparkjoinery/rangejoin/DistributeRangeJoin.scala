package io.github.sparkjoinery.rangejoin

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.JOIN
import org.apache.spark.sql.joinery.JoineryConf
import org.apache.spark.sql.types.{ArrayType, IntegerType}

import io.github.sparkjoinery.expressions.TimePart
import io.github.sparkjoinery.planning.{MayFail, PartsByQuantiles}
import io.github.sparkjoinery.rangejoin.index.{RangeLayout, RangeLong}
import io.github.sparkjoinery.rangejoin.stored.StoredRangeSide

/**
 * A range join without an equality, neither of whose sides is small enough to index on the driver, stays distributed:
 * the range is cut into parts at quantiles, an interval is copied to each part that it touches, and the part becomes
 * the key.
 * {{{
 *   Join p.x BETWEEN r.lo AND r.hi        Project
 *   :- points                             +- Join p.part = r.part AND p.x BETWEEN r.lo AND r.hi
 *   +- ranges                    ==>         :- Project p.*, part of x AS part
 *                                            +- Project r.*, label of i AS part
 *                                               +- Generate explode(sequence(part of lo, part of hi)) AS i
 *                                                  +- ranges
 * }}}
 * Of two intervals that share several parts, the pair is given out in the first of these, which is where one of the two
 * begins. A copied row cannot tell whether it has a match in another part: rows that the join keeps, or gives out once,
 * have to be points.
 */
object DistributeRangeJoin extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!JoineryConf.rangeJoinEnabled || conf.numShufflePartitions < 2) plan
    else plan.transformUpWithPruning(_.containsPattern(JOIN)) {
      case join: Join if isCandidate(join) =>
        sides(join, new RangeConditions(join)).fold[LogicalPlan](join)(distribute(join, _))
    }

  /** Why a join without an equality, whose sides are both large, is not cut into parts. */
  private[rangejoin] def whyWhole(join: Join, conditions: RangeConditions): String =
    if (conf.numShufflePartitions < 2) "there is one shuffle partition"
    else if (pairs(join, conditions).isEmpty)
      "two plain comparisons, one for each end, are what tells the parts of a row"
    else if (join.joinType == FullOuter) "a full outer join keeps intervals, or points, of both sides"
    else "it keeps intervals, and a copy of one cannot tell whether another has a match"

  private def isCandidate(join: Join): Boolean = {
    val hints = (join.hint.leftHint ++ join.hint.rightHint).flatMap(_.strategy)
    RangeJoinType.supports(join.joinType) && join.condition.exists(comparesAny) && hints.isEmpty &&
    !join.isStreaming && join.condition.exists(_.deterministic) &&
    Seq(join.left, join.right).forall(side =>
      !side.isInstanceOf[StoredRangeSide] && side.stats.sizeInBytes > RangeJoinStrategy.limit)
  }

  /** Most joins are told apart here, before anything of them is estimated. */
  private def comparesAny(condition: Expression): Boolean = condition.exists {
    case _: LessThan | _: LessThanOrEqual | _: GreaterThan | _: GreaterThanOrEqual => true
    case _ => false
  }

  /** What is known of a side: each of its rows is between two terms, in either order, or at one. */
  private case class Side(relation: LogicalPlan, terms: Seq[Expression]) {
    def isPoint: Boolean = terms.head.semanticEquals(terms.last)

    /** Whether each row has one part, and can tell by itself what becomes of it. */
    def isDecided: Boolean = isPoint && !MayFail(terms.head)
    def longs: Seq[Expression] = terms.map(term => RangeLong(MayFail.orNull(term)))
  }

  /** What is known of the sides by each pair of comparisons. */
  private def pairs(join: Join, conditions: RangeConditions): Seq[(Side, Side)] = {
    val terms = conditions.usable.collect { case terms: Terms => terms }
    val (uppers, lowers) = terms.partition(_.leftIsLess)
    for (upper <- uppers; lower <- lowers if upper.dataType == lower.dataType)
      yield (Side(join.left, Seq(lower.left, upper.left)), Side(join.right, Seq(lower.right, upper.right)))
  }

  /** Those of the first two comparisons that will do, of which one is the more helpful the fewer copies there are. */
  private def sides(join: Join, conditions: RangeConditions): Option[(Side, Side)] = {
    val suitable = if (conditions.leftKeys.nonEmpty) Nil
    else pairs(join, conditions).filter { case (left, right) =>
      join.joinType match {
        case _: InnerLike => true
        case RightOuter => right.isDecided
        case FullOuter => false
        case _ => left.isDecided
      }
    }
    suitable.find { case (left, right) => left.isDecided || right.isDecided }.orElse(suitable.headOption)
  }

  private def distribute(join: Join, sides: (Side, Side)): LogicalPlan = {
    val (left, right) = sides
    val parts = PartsByQuantiles(conf.numShufflePartitions)
    val even = if (right.isDecided && !left.isDecided) right else left
    val cuts = parts.cuts(even.longs.head, even.relation)
    val (leftParts, rightParts) = (partsOf(left, cuts, parts), partsOf(right, cuts, parts))
    val once = for (a <- leftParts.isFirst; b <- rightParts.isFirst) yield Or(a, b)
    val condition = (EqualTo(leftParts.part, rightParts.part) +: join.condition.toSeq) ++ once
    val inParts = join.copy(leftParts.relation, rightParts.relation, condition = condition.reduceOption(And))
    inParts.copyTagsFrom(join) // with what was decided about it before
    Project(join.output, inParts)
  }

  /**
   * @param isFirst
   *   whether a row is the first of its copies; None where there are no copies
   */
  private case class InParts(relation: LogicalPlan, part: Attribute, isFirst: Option[Attribute])

  private def partsOf(side: Side, cuts: Expression, parts: PartsByQuantiles): InParts = {
    val output = side.relation.output
    if (side.isDecided) {
      val part = Alias(TimePart(side.longs.head, cuts, parts.labels), "part")()
      InParts(Project(output :+ part, side.relation), part.toAttribute, None)
    } else {
      // A term that fails has to meet every row of the other side, so that the condition fails as it should.
      val fails = RangeLayout.fails(side.terms)
      val numbers = 0 until parts.parts
      def number(long: Expression): Expression = TimePart(long, cuts, numbers)
      val first = Alias(If(fails, Literal(0), number(Least(side.longs))), "first")()
      val last = Alias(If(fails, Literal(numbers.last), number(Greatest(side.longs))), "last")()
      val i = AttributeReference("i", IntegerType, nullable = false)()
      val mayMatch = Filter(Or(fails, side.longs.map(IsNotNull(_)).reduce[Expression](And)), side.relation)
      val copies = Generate(
        Explode(Sequence(first.toAttribute, last.toAttribute, None, Some(conf.sessionLocalTimeZone))),
        unrequiredChildIndex = Nil,
        outer = false,
        qualifier = None,
        generatorOutput = Seq(i),
        child = Project(output ++ Seq(first, last), mayMatch)
      )
      val labels = Literal.create(parts.labels.toArray, ArrayType(IntegerType, containsNull = false))
      val part = Alias(GetArrayItem(labels, i), "part")()
      val isFirst = Alias(EqualTo(i, first.toAttribute), "isFirst")()
      InParts(Project(output ++ Seq(part, isFirst), copies), part.toAttribute, Some(isFirst.toAttribute))
    }
  }
}
