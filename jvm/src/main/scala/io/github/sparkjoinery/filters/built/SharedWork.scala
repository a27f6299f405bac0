package io.github.sparkjoinery.filters.built

import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreeNodeTag

import io.github.sparkjoinery.planning.plans.PreservesLeft

/**
 * Finds plans that a query has in several places, such as a common table expression that is joined with itself. Spark
 * shuffles them once for all places, but not if rows are dropped in one place and not in the others.
 */
object SharedWork {

  private val Shared = TreeNodeTag[Unit]("joinery_shared_work")

  /** Marks such plans in a query. */
  def mark(plan: LogicalPlan): Unit = {
    val shuffled = plan.collectWithSubqueries { case node if isShuffled(node) => node }
    for (alike <- several(shuffled)(shapeOf); equal <- several(alike)(_.canonicalized); node <- equal)
      node.setTagValue(Shared, ())
  }

  private def several[K](nodes: Seq[LogicalPlan])(key: LogicalPlan => K): Iterable[Seq[LogicalPlan]] =
    if (nodes.length < 2) Nil else nodes.groupBy(key).values.filter(_.length > 1)

  /**
   * The shape of a plan. Equal plans have one shape, hardly any two plans of a query have, and comparing plans is slow.
   */
  private def shapeOf(plan: LogicalPlan): (Class[_], Seq[String]) =
    (plan.getClass, plan.collectLeaves().map(leaf => leaf.output.headOption.fold("")(_.name)))

  /**
   * True if the marked plans are still there after a filter is added.
   *
   * @param before
   *   a part of a plan that was marked
   * @param after
   *   the same part with a filter, which is pushed down
   */
  def isKept(before: LogicalPlan, after: LogicalPlan): Boolean = {
    lazy val nodes = after.collect { case node => node }
    before.collect { case node if node.getTagValue(Shared).isDefined => node }
      .forall(shared => nodes.exists(_ fastEquals shared))
  }

  /** True for a node that may shuffle rows. */
  def isShuffled(plan: LogicalPlan): Boolean = plan match {
    case _: Join | _: PreservesLeft | _: Aggregate | _: Distinct | _: Window | _: Sort | _: RepartitionOperation => true
    case _ => false
  }
}
