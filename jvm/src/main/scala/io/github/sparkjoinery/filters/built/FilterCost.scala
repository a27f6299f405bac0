package io.github.sparkjoinery.filters.built

import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, IsNotNull, Literal, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}

/** Whether a filter is likely to save more than it costs: what is read to build it, against what need not be shuffled. */
object FilterCost extends PredicateHelper with SQLConfHelper {

  // What costs so much less to read than the other side can be tried.
  private val Negligible = 100

  /** The largest table that a plan reads, in bytes as estimated; 0 if that is not known. */
  def largestScan(plan: LogicalPlan): BigInt = scans(plan).flatten.maxOption.getOrElse(0)

  /** All that a plan reads; None if that is not known. */
  private def allScans(plan: LogicalPlan): Option[BigInt] =
    Some(scans(plan)).filter(_.forall(_.isDefined)).map(_.flatten.sum)

  private def scans(plan: LogicalPlan): Seq[Option[BigInt]] =
    plan.collectLeaves().map(leaf => Some(leaf.stats.sizeInBytes).filter(_ < conf.defaultSizeInBytes))

  /** Why a filter of these keys is not built; None if it is. */
  def missing(source: KeySource, side: LogicalPlan, sideKeys: Seq[Expression]): Option[String] = {
    val saved = largestScan(side)
    allScans(source.plan) match {
      case None => Some("the size of what its keys come from is not known")
      case Some(read) if read > saved => Some(s"its keys come from as much ($read bytes) as it would filter ($saved bytes)")
      case Some(read) if read * Negligible <= saved => None
      case _ if hasPredicate(source.plan) || hasFewerKeys(source, side, sideKeys) => None
      case Some(read) =>
        Some(s"no predicate makes its keys few, and they come from $read bytes, more than a $Negligible. of $saved bytes")
    }
  }

  private def hasPredicate(plan: LogicalPlan): Boolean = plan.exists {
    case Filter(condition, _) => !splitConjunctivePredicates(condition).forall(keepsMost)
    case _ => false
  }

  /** What the optimizer adds of itself, and what keys are hardly ever. */
  private def keepsMost(predicate: Expression): Boolean = predicate match {
    case _: IsNotNull | _: Literal => true
    case _ => false
  }

  /** Whether statistics tell that most keys of the side to filter are not among them. */
  private def hasFewerKeys(source: KeySource, side: LogicalPlan, sideKeys: Seq[Expression]): Boolean =
    source.plan.stats.rowCount.exists(rows =>
      sideKeys.exists {
        case key: Attribute => side.stats.attributeStats.get(key).flatMap(_.distinctCount).exists(_ > rows * 2)
        case _ => false
      })
}
