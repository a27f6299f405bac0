package io.github.sparkjoinery.filters.logical

import java.util.IdentityHashMap

import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, LogicalPlan}
import org.apache.spark.sql.catalyst.plans.{FullOuter, LeftOuter, RightOuter}
import org.apache.spark.sql.execution.adaptive.LogicalQueryStage

import io.github.sparkjoinery.expressions.MightContain
import io.github.sparkjoinery.planning.plans.LeftOuterLike
import io.github.sparkjoinery.planning.plans.SingleJoin

/**
 * Estimates if a filter saves more than it costs: the bytes read to build it, against the bytes that need not be
 * shuffled. Results for parts of a plan are kept, as each join asks for all parts below it.
 */
class FilterCost {
  import FilterCost._

  private val largest = new IdentityHashMap[LogicalPlan, BigInt]
  private val savings = new IdentityHashMap[LogicalPlan, BigInt]

  private def known(values: IdentityHashMap[LogicalPlan, BigInt], plan: LogicalPlan)(value: => BigInt): BigInt = {
    val before = values.get(plan)
    if (before != null) before
    else {
      val found = value
      values.put(plan, found)
      found
    }
  }

  /** The estimated bytes of the largest table that a plan reads; 0 if unknown. */
  def largestScan(plan: LogicalPlan): BigInt = known(largest, plan) {
    plan.children match {
      case Nil => sizeOf(plan).getOrElse(0)
      case children => children.map(largestScan).max
    }
  }

  /** Bytes of the application side that a filter may keep from the shuffle. */
  private def saved(side: LogicalPlan): BigInt = known(savings, side) {
    val whole = scans(side, side.outputSet).flatten.foldLeft(BigInt(0))(_ max _)
    if (hasPredicate(side)) whole / OfItsRows else whole
  }

  /**
   * Why a side does not wait for a filter; None if it does.
   *
   * @param creation
   *   the rows whose keys make the filter
   * @param side
   *   the side to filter
   * @param other
   *   the whole other side of the join
   * @param keys
   *   the keys of the side to filter
   * @param isKnown
   *   true if another join reads the keys anyway
   */
  def missing(
      creation: LogicalPlan,
      side: LogicalPlan,
      other: LogicalPlan,
      keys: Seq[Expression],
      isKnown: Boolean): Option[String] =
    scans(creation, creation.outputSet) match {
      case read if read.exists(_.isEmpty) => Some("the size of what its keys come from is not known")
      case read if !isSelective(creation) && read.flatten.sum > saved(side) * UnlessUnsure =>
        Some(s"to wait for ${read.flatten.sum} bytes of its keys is too much for ${saved(side)} bytes that it filters")
      case read if read.flatten.sum * Negligible <= saved(side) && (isAll(other) || isKnown) => None
      case _ if (areFew(creation) || areInRange(creation)) && !areFew(side) || hasFewerKeys(creation, side, keys) =>
        None
      case read if hasPredicate(creation) && read.flatten.sum * Unsure <= saved(side) => None
      case read if hasPredicate(creation) =>
        Some(
          "its predicates may leave most keys, or the other side has few rows already, and its keys are read from " +
            s"${read.flatten.sum} bytes, more than a $Unsure. of ${saved(side)} bytes that it filters")
      case read =>
        Some(
          s"no predicate makes its keys few, and they are read from ${read.flatten.sum} bytes, more than a " +
            s"$Negligible. of ${saved(side)} bytes that it filters")
    }
}

object FilterCost extends PredicateHelper with SQLConfHelper {

  // A filter is worth a try if its keys cost so much less to read than the other side.
  private val Negligible = 100
  // A comparison may leave most of a table's rows. If the other side has 25 times the bytes, a try costs a twelfth of
  // the query, and can save nearly all of it.
  private val Unsure = 50
  // Files that are newer than a stored filter are worth a try as well, as that filter is there already.
  private val Little = 10
  // Rows are read several times as fast as they are shuffled and sorted. Less is saved if it is less sure that rows are
  // dropped.
  private val UnlessUnsure = 2
  // The assumed fraction of a side that its own predicates leave. The true fraction is unknown.
  private val OfItsRows = 3

  /** True if so many bytes are little to read for a filter on a side. */
  def isLittle(bytes: BigInt, side: LogicalPlan): Boolean = bytes * Little <= new FilterCost().largestScan(side)

  /** The estimated bytes of a table; None if unknown. */
  private def sizeOf(leaf: LogicalPlan): Option[BigInt] =
    Some(leaf.stats.sizeInBytes).filter(_ < conf.defaultSizeInBytes)

  /**
   * True if a side is a single table. One without a predicate may be small because it holds the subject of the query. A
   * table that is joined with others is usually a dimension, which has every key.
   */
  private def isAll(side: LogicalPlan): Boolean = side.collectLeaves().length == 1

  /** The estimated bytes that a plan reads of each of its tables, for the columns that it needs; None if unknown. */
  private def scans(plan: LogicalPlan, output: AttributeSet): Seq[Option[BigInt]] = {
    val needed = AttributeSet.fromAttributeSets(output +: plan.collect { case node => node.references })
    plan.collectLeaves().map { leaf =>
      val share = leaf.output.filter(needed.contains)
      sizeOf(leaf).map(_ * width(share) / width(leaf.output))
    }
  }

  private def width(columns: Seq[Attribute]): BigInt = BigInt(1) + columns.map(c => BigInt(c.dataType.defaultSize)).sum

  private def hasPredicate(plan: LogicalPlan): Boolean =
    conditions(plan).exists(!splitConjunctivePredicates(_).forall(keepsMost))

  /** The conditions of filters that drop rows of a plan. A side that an outer join adds to the other drops none. */
  private def conditions(plan: LogicalPlan): Seq[Expression] = plan match {
    case Filter(condition, child) => condition +: conditions(child)
    case Join(left, _, LeftOuter | SingleJoin(), _, _) => conditions(left)
    case Join(_, right, RightOuter, _, _) => conditions(right)
    case Join(_, _, FullOuter, _, _) => Nil
    case join: LeftOuterLike => conditions(join.left)
    case stage: LogicalQueryStage => conditions(stage.logicalPlan)
    case _ => plan.children.flatMap(conditions)
  }

  /** True if a predicate leaves so few keys that hardly any row of another side is likely to have one. */
  private def areFew(keys: LogicalPlan): Boolean = isSelective(keys) || hasAny(keys) {
    case _: StartsWith | _: EndsWith | _: Contains | _: Like => true
    case _ => false
  }

  /**
   * True if the keys are so few that a table filtered by them has few rows. A pattern does not count, as it may fit
   * many rows.
   */
  def isSelective(keys: LogicalPlan): Boolean = hasAny(keys) {
    case _: EqualTo | _: EqualNullSafe | _: In | _: InSet => true
    case test: MightContain => test.isSelective
    case _ => false
  }

  private def hasAny(plan: LogicalPlan)(isMeant: Expression => Boolean): Boolean =
    conditions(plan).exists(splitConjunctivePredicates(_).exists(isMeant))

  /** True if the query limits a column by two literals, from below and from above. */
  private def areInRange(keys: LogicalPlan): Boolean = conditions(keys).exists { condition =>
    val (lower, upper) = splitConjunctivePredicates(condition).collect {
      case GreaterThan(column: Attribute, _: Literal) => (Some(column.exprId), None)
      case GreaterThanOrEqual(column: Attribute, _: Literal) => (Some(column.exprId), None)
      case LessThan(column: Attribute, _: Literal) => (None, Some(column.exprId))
      case LessThanOrEqual(column: Attribute, _: Literal) => (None, Some(column.exprId))
    }.unzip
    lower.flatten.exists(upper.flatten.contains)
  }

  /** True if a predicate keeps most rows: the optimizer adds it, or it excludes some values only. */
  private def keepsMost(predicate: Expression): Boolean = predicate match {
    case _: IsNotNull | _: Literal | Not(_: EqualTo | _: In | _: InSet | _: EqualNullSafe) => true
    case _ => false
  }

  /** True if, by statistics, most keys of the filtered side are not among these keys. */
  private def hasFewerKeys(keys: LogicalPlan, side: LogicalPlan, sideKeys: Seq[Expression]): Boolean =
    keys.stats.rowCount.exists(rows =>
      sideKeys.exists {
        case key: Attribute => side.stats.attributeStats.get(key).flatMap(_.distinctCount).exists(_ > rows * 2)
        case _ => false
      })
}
