package io.github.sparkjoinery.filters.built

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.optimizer.PushDownPredicates
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.trees.TreePattern.{AS_OF_JOIN, JOIN, SCALAR_SUBQUERY}
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.filters.FilteredJoin
import io.github.sparkjoinery.planning.explain.{Decision, RelationName}
import io.github.sparkjoinery.planning.plans.{ListOnce, PreservesLeft, Repeatable, SomeRowsOfKeys}
import io.github.sparkjoinery.planning.terms.MayFail

/**
 * Builds a filter from one side's keys, and drops rows of the other side that match none of them before they are
 * shuffled:
 * {{{
 *   Join f.tailnum = p.tailnum              Join f.tailnum = p.tailnum
 *   :- flights f                            :- Filter joinery_might_contain(f.tailnum, ...) AND f.tailnum >= ...
 *   +- planes p WHERE p.maker = 'A'   ==>   :  +- flights f
 *                                           +- planes p WHERE p.maker = 'A'
 * }}}
 * A join gets one filter for all its keys, and bounds for each key. A scan skips data by the bounds if the statistics
 * of its files allow it. This is the runtime filter join of JD
 * (docs/decisions/0020-a-filter-is-a-subquery-with-an-end.md).
 *
 * Joins are visited from the bottom up, so that a filtered table may filter the next.
 */
object BuildRuntimeFilters extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case _ if !JoineryConf.runtimeFilterBuild || !plan.containsAnyPattern(JOIN, AS_OF_JOIN) => plan
    case subquery: Subquery if subquery.correlated => plan // it is seen again, as a join of the outer query
    case _ => new Run(plan).transform()
  }

  // A filter from a filtered table may filter the next table, but no further. Each table is read before the next one. A
  // plan holds the build of a filter once for each use of the filter and its bounds.
  private val MostNested = 2

  // The plan of a subquery is optimized once by itself and once as part of the query.
  private val Decided = TreeNodeTag[Unit]("joinery_filter_decided")

  private class Run(plan: LogicalPlan) {
    private val cost = new FilterCost
    private val summaries = mutable.Map.empty[LogicalPlan, ScalarSubquery]
    private val used = mutable.Set.empty[LogicalPlan] // the summaries that are used

    /** The predicate that rows of a side have to pass, the summary that it needs, and the name of the source. */
    private case class Test(predicate: Expression, summary: LogicalPlan, source: String)

    // Lazy, because most queries get no filter. The nodes above the first filtered join are still those of the plan.
    private lazy val marked: Unit = SharedWork.mark(plan)

    private val listings = new ListOnce

    def transform(): LogicalPlan = {
      val filtered = plan.transformUpWithPruning(_.containsAnyPattern(JOIN, AS_OF_JOIN))(filterJoins)
      if (used.isEmpty) filtered else listings.in(filtered)(listings.isKnown)
    }

    private def filterJoins: PartialFunction[LogicalPlan, LogicalPlan] = {
      case join: Join if isOpen(join) =>
        filtered(join, directionsOf(join), join.condition, FilteredJoin.isBroadcast(join), join.hint)
      case join: PreservesLeft if isOpen(join) =>
        filtered(
          join,
          Seq(Direction(join.right, join.left, isLeft = false)),
          join.condition,
          join.isBroadcast,
          join.hint)
    }

    private def isOpen(join: LogicalPlan): Boolean =
      !join.isStreaming && join.getTagValue(Decided).isEmpty && join.getTagValue(FilteredJoin.Sufficient).isEmpty

    /**
     * The sides whose rows may be dropped, each with the side whose keys decide. The side with more to read comes
     * first.
     */
    private def directionsOf(join: Join): Seq[Direction] = {
      val left = join.joinType match {
        case _: InnerLike | LeftSemi | RightOuter => Some(Direction(join.left, join.right, isLeft = true))
        case _ => None
      }
      val right = join.joinType match {
        case _: InnerLike | LeftSemi | LeftAnti | LeftOuter | _: ExistenceJoin =>
          Some(Direction(join.right, join.left, isLeft = false))
        case _ => None
      }
      (left ++ right).toSeq.sortBy(direction => -cost.largestScan(direction.side))
    }

    private def filtered(
        join: LogicalPlan,
        directions: Seq[Direction],
        condition: Option[Expression],
        mayBeBroadcast: => Boolean,
        hint: JoinHint): LogicalPlan = {
      lazy val isBroadcast = mayBeBroadcast // lazy: it estimates the sides' sizes
      lazy val large = directions.filterNot(direction => isSmall(direction.side))
      val asked = directions.filter(direction =>
        RuntimeFilterHint.isOn(if (direction.isLeft) hint.rightHint else hint.leftHint))
      // A hint skips the check of costs. Without a shuffle, a filter saves nothing.
      val insisted = asked.filter(direction => !isBroadcast || isShuffledWithin(direction.side))
      val worthwhile =
        if (asked.nonEmpty) insisted
        else if (large.isEmpty || isBroadcast) Nil
        else large
      val outcomes = worthwhile.to(LazyList).flatMap { direction =>
        val terms = JoinTerms.of(condition, direction.side, direction.other)
        if (terms.isEmpty) None
        else Some((
          direction,
          filterOf(terms, insisted.nonEmpty).flatMap { test =>
            marked
            val side = pushed(Filter(test.predicate, direction.side))
            if (insisted.nonEmpty || SharedWork.isKept(direction.side, side)) Right((side, test))
            else Left("no filter is built: the other side is computed once for several places of the query")
          }))
      }
      val found = outcomes.collectFirst { case (direction, Right(filtered)) => (direction, filtered) }
      val result = found.fold(join) { case (direction, (side, _)) =>
        join.withNewChildren(if (direction.isLeft) Seq(side, direction.other) else Seq(direction.other, side))
      }
      val hinted = RuntimeFilterHint.isOn(hint.leftHint) || RuntimeFilterHint.isOn(hint.rightHint)
      val reasons =
        found.map { case (_, (_, test)) => s"rows are dropped by a filter that the query builds of ${test.source}" }
          .orElse(outcomes.collectFirst { case (_, Left(reason)) => reason }).toSeq ++
          (if (asked.nonEmpty && insisted.isEmpty)
             Seq(s"hint ${RuntimeFilterHint.Name}: the join is broadcast, and no shuffle would be saved")
           else if (hinted && (asked.isEmpty || outcomes.isEmpty))
             Seq(s"hint ${RuntimeFilterHint.Name}: the other side cannot be filtered by its keys")
           else Nil)
      found.foreach { case (_, (_, test)) => used += test.summary }
      result.copyTagsFrom(join)
      if (found.isDefined) result.setTagValue(Decided, ())
      else if (large.nonEmpty && isBroadcast) large.headOption.foreach { direction =>
        val terms = JoinTerms.of(condition, direction.side, direction.other)
        if (!terms.isEmpty) {
          val test =
            new KeySource.SparedTest(direction.isLeft, filterOf(terms, insists = false).toOption.map(_.predicate))
          result.setTagValue(KeySource.Spared, test)
        }
      }
      if (reasons.nonEmpty) Decision.record(result, Decision.BuiltFilter, reasons.mkString("; "))
      result
    }

    private def isShuffledWithin(side: LogicalPlan): Boolean = side.exists {
      case join: Join => !FilteredJoin.isBroadcast(join)
      case join: PreservesLeft => !join.isBroadcast
      case other => SharedWork.isShuffled(other)
    }

    private def isSmall(side: LogicalPlan): Boolean =
      cost.largestScan(side) < JoineryConf.runtimeFilterMinSize

    /** The test, or the reason why there is none. */
    private def filterOf(terms: JoinTerms, insists: Boolean): Either[String, Test] =
      if (conf.adaptiveExecutionEnabled) bestFilterOf(terms, insists)
      else Left("no filter is built: adaptive execution is off")

    private def bestFilterOf(terms: JoinTerms, insists: Boolean): Either[String, Test] = {
      val candidates = KeySource.of(terms.other, terms.keys.map(_.mine) ++ terms.bounds.map(_.mine))
        .filter(source => nesting(source.plan) < MostNested)
        .map(source => source -> new KeyTest(terms, source)).filter { case (_, test) => test.isUseful }
        .sortBy { case (source, test) => (-test.keys.length, cost.largestScan(source.plan)) }
      val weighed = new cost.Side(terms.side, terms.other)
      val outcomes = candidates.to(LazyList).map { case (source, test) =>
        val summary = test.summary.collected(JoineryConf.runtimeFilterMaxKeys).listedOnce(listings)
        val missing =
          if (insists) None
          else weighed.missing(summary.child, test.keys.map(_.theirs), used.contains(summary.canonicalized))
        missing.orElse(unrepeatable(source.plan)).orElse(useless(source, test, insists)).toLeft {
          val name = nameOf(source.plan)
          val predicate = test.predicate(
            subqueryOf(summary),
            name,
            FilterCost.isSelective(summary.child),
            pauses = !MayFail.ofParts(terms.side))
          Test(predicate, summary.canonicalized, name)
        }
      }
      outcomes.takeWhile(!_.left.toOption.contains(FilterCost.OfDimension)).collectFirst { case Right(found) =>
        found
      }.toRight(
        outcomes.collectFirst { case Left(reason) => s"no filter is built: $reason" }
          .getOrElse("no filter is built: no table has all keys of the other side"))
    }

    /** The depth of nested subqueries in a plan. */
    private def nesting(plan: LogicalPlan): Int =
      if (!plan.containsPattern(SCALAR_SUBQUERY)) 0
      else plan.collect { case node =>
        node.expressions.flatMap(_.collect { case subquery: ScalarSubquery => subquery.plan })
      }.flatten.map {
        case keys: FilterKeys => 1 + nesting(keys.child)
        case other => 1 + nesting(other)
      }.maxOption.getOrElse(0)

    private def unrepeatable(plan: LogicalPlan): Option[String] =
      if (Repeatable.ofMatches(plan)) None
      else Some("what its keys come from may have other rows when it is read once more")

    private def useless(source: KeySource, test: KeyTest, insists: Boolean): Option[String] =
      if (insists || !test.comparesKeysOnly || !SameRows.contain(source.plan, test.side, test.keys)) None
      else Some("the keys of the other side come from the same rows")

    private def subqueryOf(summary: FilterKeys): ScalarSubquery =
      summaries.getOrElseUpdate(summary.canonicalized, ScalarSubquery(summary.withScans))

    private def nameOf(plan: LogicalPlan): String =
      plan.collectLeaves().map(RelationName.nameOf).distinct.mkString(", ")

    /** Pushes predicates down to where the rows come from, so that a filtered table may filter the next. */
    private def pushed(plan: LogicalPlan): LogicalPlan = {
      val next = PushDownPredicates(plan).transformDown {
        case Filter(condition, join: PreservesLeft) if isOver(condition, join.left) =>
          join.withNewChildren(Seq(Filter(condition, join.left), join.right))
        case Filter(condition, some: SomeRowsOfKeys)
            if condition.references.subsetOf(
              AttributeSet(some.keys.collect { case key: Attribute => key })) =>
          some.withNewChildren(Seq(Filter(condition, some.child)))
      }
      if (next.fastEquals(plan)) plan else pushed(next)
    }

    private def isOver(condition: Expression, side: LogicalPlan): Boolean =
      condition.references.subsetOf(side.outputSet)
  }

  private case class Direction(side: LogicalPlan, other: LogicalPlan, isLeft: Boolean)
}
