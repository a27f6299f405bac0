package io.github.sparkjoinery.filters.rules

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.PredicateHelper
import org.apache.spark.sql.catalyst.plans.logical.{JoinHint, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.{LogicalQueryStage, QueryStageExec, ShuffleQueryStageExec}
import org.apache.spark.sql.execution.exchange.{Exchange, ShuffleExchangeExec}
import org.apache.spark.sql.execution.joins.BroadcastHashJoinExec
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.filters.exec.AwaitKeysExec
import io.github.sparkjoinery.filters.logical._
import io.github.sparkjoinery.planning.explain.{Decision, RelationName}
import io.github.sparkjoinery.planning.plans.Repeatable

/**
 * Chooses the side of a shuffled join that is filtered, and lets it wait for the other side's shuffle:
 * {{{
 *   SortMergeJoin              SortMergeJoin
 *   :- Exchange                :- Exchange
 *   :  +- scan of flights      :  +- AwaitKeys joinery_might_contain(tailnum)
 *   +- Exchange          ==>   :     :- scan of flights
 *      +- scan of planes       :     +- Exchange
 *                              :        +- scan of planes
 *                              +- Exchange
 *                                 +- scan of planes
 * }}}
 * Both exchanges of `planes` are one stage. When the stage has finished, [[FilterByShuffledKeys]] adds the filter. This
 * is the runtime filter join of JD (docs/decisions/0029-a-filter-is-built-from-shuffled-rows.md).
 */
object WaitForKeys extends Rule[SparkPlan] with PredicateHelper {

  private val Broadcast = s"hint ${RuntimeFilterHint.Name}: the join is broadcast, and no shuffle would be saved"
  private val NoSide = s"hint ${RuntimeFilterHint.Name}: the other side cannot be filtered by its keys"

  override def apply(plan: SparkPlan): SparkPlan =
    if (!JoineryConf.runtimeFilterBuild || !conf.exchangeReuseEnabled) plan
    else {
      val waits = new Waits(plan)
      plan.transformUp {
        case join if FilterableJoin.isShuffled(join) =>
          join.logicalLink match {
            case Some(logical @ FilterableJoin(filterable))
                if logical.getTagValue(FilterableJoin.HasSufficientFilter).isEmpty &&
                  logical.getTagValue(FilterableJoin.Filtered).isEmpty => waits.add(join, filterable)
            case _ => join
          }
        case join: BroadcastHashJoinExec =>
          join.logicalLink.collect {
            case FilterableJoin(filterable) if RuntimeFilterHint.isOn(filterable.hint) =>
              Decision.record(filterable.join, Decision.BuiltFilter, Broadcast)
          }
          join
      }
    }

  private def isAsked(hint: JoinHint, side: ApplicationSide): Boolean =
    RuntimeFilterHint.isOn(if (side.isLeft) hint.rightHint else hint.leftHint)

  /** An exchange whose rows make a filter, or its stage that still runs, and the terms of the join that it has. */
  private case class Creation(exchange: SparkPlan, rows: LogicalPlan, keys: FilterableKeys)

  private class Waits(plan: SparkPlan) {
    private val cost = new FilterCost
    private val read = mutable.Set.empty[SparkPlan] // exchanges whose keys are read
    private lazy val places: Map[SparkPlan, Int] = plan.collect {
      case node if node.isInstanceOf[Exchange] || FilterableJoin.isShuffled(node) => node.canonicalized
    }.groupBy(identity).map { case (node, same) => node -> same.length }

    def add(join: SparkPlan, filterable: FilterableJoin): SparkPlan = {
      val asked = filterable.sides.filter(isAsked(filterable.hint, _))
      val sides = (if (asked.isEmpty) filterable.sides else asked).sortBy(side => -cost.largestScan(side.rows))
      filterable.join.getTagValue(FilterableJoin.Decision) match {
        case Some(decided) => sides.find(side => decided.contains(side.isLeft))
            .flatMap(side => creationOf(join, filterable, side).toOption.map(waiting(join, side, _))).getOrElse(join)
        case None =>
          def outcome(side: ApplicationSide) = creationOf(join, filterable, side).flatMap { creation =>
            missing(join, filterable.hint, side, creation).toLeft(creation)
          }
          // The second side is asked only if the first one gets no filter.
          val outcomes = sides.foldLeft(Vector.empty[(ApplicationSide, Either[Option[String], Creation])]) {
            (known, side) => if (known.exists(_._2.isRight)) known else known :+ (side -> outcome(side))
          }
          val found = outcomes.collectFirst { case (side, Right(creation)) => (side, creation) }
          filterable.join.setTagValue(FilterableJoin.Decision, found.map(_._1.isLeft))
          val reasons = outcomes.collectFirst { case (_, Left(Some(reason))) => reason }.toSeq ++
            (if (asked.isEmpty && RuntimeFilterHint.isOn(filterable.hint)) Seq(NoSide) else Nil)
          record(filterable.join, found.map(_._2), reasons)
          found.fold(join) { case (side, creation) =>
            read += creation.exchange.canonicalized
            waiting(join, side, creation)
          }
      }
    }

    /** The exchange with the most keys of the application side; otherwise the reason, if the user should see one. */
    private def creationOf(
        join: SparkPlan,
        filterable: FilterableJoin,
        side: ApplicationSide): Either[Option[String], Creation] = {
      val exchanges = topmost(join.children(if (side.isLeft) 1 else 0))
      val terms = FilterableKeys.between(filterable.condition, side.rows, side.creation)
      if (terms.isEmpty || exchanges.isEmpty) Left(None)
      else {
        val found =
          KeySource.findBelow(side.creation, terms.creation)(plan => exchanges.exists(isOf(plan, _))).map { source =>
            Creation(exchanges.find(isOf(source.plan, _)).get, source.plan, terms.foundIn(source))
          }.filterNot(_.keys.isEmpty)
        found.sortBy(creation => (-creation.keys.keys.length, cost.largestScan(creation.rows))).headOption
          .toRight(Some("no filter is built: no shuffle has all keys of the other side"))
      }
    }

    /** The reason why the side does not wait, if the user should see one; None if it waits. */
    private def missing(
        join: SparkPlan,
        hint: JoinHint,
        side: ApplicationSide,
        creation: Creation): Option[Option[String]] = {
      val insists = isAsked(hint, side)
      if (!insists && cost.largestScan(side.rows) < JoineryConf.runtimeFilterMinSize) Some(None)
      else {
        val unrepeatable =
          if (Repeatable.afterStageRetry(creation.rows)) None
          else Some("what its keys come from may have other rows when a part of it is computed again")
        val costly =
          if (insists) None
          else cost.missing(
            creation.rows,
            side.rows,
            side.creation,
            creation.keys.keys.map(_.application),
            isKnown(creation))
        unrepeatable.orElse(costly).orElse {
          val others = lowest(join.children(if (side.isLeft) 0 else 1)).filterNot(isSame(_, creation.exchange))
          if (insists || !others.exists(isShared(_, join))) None
          else Some("the other side is computed once for several places of the query")
        }.map(reason => Some(s"no filter is built: $reason"))
      }
    }

    private def isKnown(creation: Creation): Boolean = read(creation.exchange.canonicalized)

    /** True if an exchange has more places in the plan than the join above it. */
    private def isShared(exchange: Exchange, join: SparkPlan): Boolean =
      places.getOrElse(exchange.canonicalized, 1) > places.getOrElse(join.canonicalized, 1)

    private def record(join: LogicalPlan, found: Option[Creation], reasons: Seq[String]): Unit = {
      val text = found.map(creation => s"rows are dropped by a filter of the keys of ${nameOf(creation.rows)}")
        .getOrElse(reasons.mkString("; "))
      if (text.nonEmpty) Decision.record(join, Decision.BuiltFilter, text)
    }

    private def nameOf(rows: LogicalPlan): String =
      rows.collectLeaves().map(RelationName.nameOf).distinct.mkString(", ")
  }

  /** True if an exchange, or its stage that still runs, shuffles the rows of a plan. */
  private def isOf(plan: LogicalPlan, exchange: SparkPlan): Boolean = exchange match {
    case shuffle: ShuffleExchangeExec => shuffle.child.logicalLink.exists(_ eq plan)
    case stage: ShuffleQueryStageExec if !stage.isMaterialized =>
      plan match {
        case LogicalQueryStage(_, physical) => physical.exists(_ eq stage)
        case _ => false
      }
    case _ => false
  }

  private def waiting(join: SparkPlan, side: ApplicationSide, creation: Creation): SparkPlan = {
    val at = if (side.isLeft) 0 else 1
    val filter = s"joinery_might_contain(${(creation.keys.keys.map(_.application) ++ creation.keys.bounds.map(
        _.application)).mkString(", ")})"
    join.withNewChildren(join.children.updated(at, awaiting(join.children(at), creation.exchange, filter)))
  }

  /** Adds the wait below the lowest exchanges of a side, which adaptive execution runs first. */
  private def awaiting(plan: SparkPlan, keys: SparkPlan, filter: String): SparkPlan = plan match {
    case exchange: Exchange if !hasStage(exchange.child) && !isSame(exchange, keys) =>
      val wait = AwaitKeysExec(exchange.child, keys, filter)
      // by tag, because `setLogicalLink` would also mark the other side's exchange
      exchange.child.logicalLink.foreach(wait.setTagValue(SparkPlan.LOGICAL_PLAN_TAG, _))
      exchange.withNewChildren(Seq(wait))
    case _: QueryStageExec => plan
    case _ => plan.withNewChildren(plan.children.map(awaiting(_, keys, filter)))
  }

  /** True for the keys' own shuffle, if a side has it, too. It cannot wait for itself. */
  private def isSame(exchange: Exchange, keys: SparkPlan): Boolean = exchange.canonicalized == keys.canonicalized

  private def lowest(plan: SparkPlan): Seq[Exchange] =
    plan.collect { case exchange: Exchange if !hasStage(exchange.child) => exchange }

  /** The exchanges and stages on the way to a join. */
  private def topmost(plan: SparkPlan): Seq[SparkPlan] = plan match {
    case _: Exchange | _: QueryStageExec => Seq(plan)
    case wait: AwaitKeysExec => topmost(wait.left)
    case _ => plan.children.flatMap(topmost)
  }

  private def hasStage(plan: SparkPlan): Boolean = plan.exists {
    case _: Exchange | _: QueryStageExec => true
    case _ => false
  }
}
