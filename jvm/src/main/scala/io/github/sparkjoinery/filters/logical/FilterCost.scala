package io.github.sparkjoinery.filters.logical

import java.util.IdentityHashMap

import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}

import io.github.sparkjoinery.expressions.MightContain

/**
 * Whether a filter is likely to save more than it costs: what is read to build it, against what need not be shuffled.
 * What is found out about parts of a plan is kept, as each join asks for all below it.
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

  /** The largest table that a plan reads, in bytes as estimated; 0 if that is not known. */
  def largestScan(plan: LogicalPlan): BigInt = known(largest, plan) {
    plan.children match {
      case Nil => sizeOf(plan).getOrElse(0)
      case children => children.map(largestScan).max
    }
  }

  /** Bytes of the application side that a filter may keep from the shuffle. */
  private def saved(side: LogicalPlan): BigInt = known(savings, side) {
    val whole = scans(side, side.outputSet).flatten.maxOption.getOrElse(BigInt(0))
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
   */
  def missing(creation: LogicalPlan, side: LogicalPlan, other: LogicalPlan, keys: Seq[Expression]): Option[String] =
    scans(creation, creation.outputSet) match {
      case read if read.exists(_.isEmpty) => Some("the size of what its keys come from is not known")
      case read if !isSelective(creation) && read.flatten.sum > saved(side) * UnlessUnsure =>
        Some(s"to wait for ${read.flatten.sum} bytes of its keys is too much for ${saved(side)} bytes that it filters")
      case read if read.flatten.sum * Negligible <= saved(side) && isAll(other) => None
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

  // What costs so much less to read than the other side can be tried.
  private val Negligible = 100
  // A comparison may leave most of a table's rows. To try it costs a twelfth of a query whose other side has 25 times the
  // bytes, and can save nearly all of it.
  private val Unsure = 50
  // What of a table has come since a filter of it was built can be tried, too, as the filter is there already.
  private val Little = 10
  // Rows are read several times as fast as they are shuffled and sorted; less is saved where less is sure to be dropped.
  private val UnlessUnsure = 2
  // What a side's own predicates may leave of it: nobody knows, but it is less than all.
  private val OfItsRows = 3

  /** Whether so many bytes are little to read for a filter of a side. */
  def isLittle(bytes: BigInt, side: LogicalPlan): Boolean = bytes * Little <= new FilterCost().largestScan(side)

  /** Of a table, in bytes as estimated. */
  private def sizeOf(leaf: LogicalPlan): Option[BigInt] =
    Some(leaf.stats.sizeInBytes).filter(_ < conf.defaultSizeInBytes)

  /**
   * Whether a table is all there is of a side. One without a predicate may be small because it has what a query is
   * about. One that other tables are joined with is a dimension more often than not, which has every key there is.
   */
  private def isAll(side: LogicalPlan): Boolean = side.collectLeaves().length == 1

  /** What a plan reads of each of its tables, in bytes of the columns that it needs; None if that is not known. */
  private def scans(plan: LogicalPlan, output: AttributeSet): Seq[Option[BigInt]] = {
    val needed = AttributeSet.fromAttributeSets(output +: plan.collect { case node => node.references })
    plan.collectLeaves().map { leaf =>
      val share = leaf.output.filter(needed.contains)
      sizeOf(leaf).map(_ * width(share) / width(leaf.output))
    }
  }

  private def width(columns: Seq[Attribute]): BigInt = BigInt(1) + columns.map(c => BigInt(c.dataType.defaultSize)).sum

  private def hasPredicate(plan: LogicalPlan): Boolean = plan.exists {
    case Filter(condition, _) => !splitConjunctivePredicates(condition).forall(keepsMost)
    case _ => false
  }

  /** Whether a predicate makes keys so few that hardly any row of another side is likely to have one. */
  private def areFew(keys: LogicalPlan): Boolean = isSelective(keys) || hasAny(keys) {
    case _: StartsWith | _: EndsWith | _: Contains | _: Like => true
    case _ => false
  }

  /** Whether they are so few that a table which is filtered by them is itself few. A pattern may fit many rows. */
  def isSelective(keys: LogicalPlan): Boolean = hasAny(keys) {
    case _: EqualTo | _: EqualNullSafe | _: In | _: InSet => true
    case test: MightContain => test.isSelective
    case _ => false
  }

  private def hasAny(plan: LogicalPlan)(isMeant: Expression => Boolean): Boolean = plan.exists {
    case Filter(condition, _) => splitConjunctivePredicates(condition).exists(isMeant)
    case _ => false
  }

  /** Whether a column lies between two values, both of which a query gives. */
  private def areInRange(keys: LogicalPlan): Boolean = keys.exists {
    case Filter(condition, _) =>
      val (lower, upper) = splitConjunctivePredicates(condition).collect {
        case GreaterThan(column: Attribute, _: Literal) => (Some(column.exprId), None)
        case GreaterThanOrEqual(column: Attribute, _: Literal) => (Some(column.exprId), None)
        case LessThan(column: Attribute, _: Literal) => (None, Some(column.exprId))
        case LessThanOrEqual(column: Attribute, _: Literal) => (None, Some(column.exprId))
      }.unzip
      lower.flatten.exists(upper.flatten.contains)
    case _ => false
  }

  /** What the optimizer adds of itself, and what keys are hardly ever. */
  private def keepsMost(predicate: Expression): Boolean = predicate match {
    case _: IsNotNull | _: Literal | Not(_: EqualTo | _: In | _: InSet | _: EqualNullSafe) => true
    case _ => false
  }

  /** Whether statistics tell that most keys of the side to filter are not among them. */
  private def hasFewerKeys(keys: LogicalPlan, side: LogicalPlan, sideKeys: Seq[Expression]): Boolean =
    keys.stats.rowCount.exists(rows =>
      sideKeys.exists {
        case key: Attribute => side.stats.attributeStats.get(key).flatMap(_.distinctCount).exists(_ > rows * 2)
        case _ => false
      })
}
