package io.github.sparkjoinery.rangejoin.rules

import org.apache.spark.sql.catalyst.expressions.{Alias, RowNumber, WindowExpression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreeNodeTag

/**
 * Finds joins below a LIMIT without ORDER BY that takes the first rows for each row of an outer query. Spark turns such
 * a LIMIT into a window that numbers rows without an order, which no query can write. Stock Spark takes the same rows
 * each time, but a range join finds its candidates in another order.
 */
private[rangejoin] object SubqueryLimit {
  private val Below = TreeNodeTag[Unit]("joinery_below_limit")

  /**
   * Marks the joins below such a window. The search ends at an aggregate, which does not keep the order of its rows.
   */
  def markJoinsBelow(plan: LogicalPlan): Unit = plan match {
    case window: Window if numbersWithoutOrder(window) => mark(window.child)
    case _ =>
  }

  def isAbove(join: Join): Boolean = join.getTagValue(Below).isDefined

  private def mark(plan: LogicalPlan): Unit = plan match {
    case _: Aggregate =>
    case join: Join =>
      join.setTagValue(Below, ())
      join.children.foreach(mark)
    case other => other.children.foreach(mark)
  }

  private def numbersWithoutOrder(window: Window): Boolean = window.orderSpec.isEmpty &&
    window.windowExpressions.exists {
      case Alias(WindowExpression(_: RowNumber, _), _) => true
      case _ => false
    }
}
