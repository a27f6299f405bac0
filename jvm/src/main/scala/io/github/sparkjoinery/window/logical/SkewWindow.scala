package io.github.sparkjoinery.window.logical

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, UnaryNode}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{TreePattern, UNRESOLVED_HINT}

/**
 * The hint `SKEW_WINDOW(parts)`. It stands above a SELECT first, and later above each window of that SELECT.
 *
 * @param parts
 *   the most parts that a hot key is cut into; 1: it stays whole
 */
case class SkewWindow(parts: Int, child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  // A rule that looks for the hint need not walk over the whole plan.
  override val nodePatterns: Seq[TreePattern] = Seq(UNRESOLVED_HINT)
  override def maxRows: Option[Long] = child.maxRows
  override protected def withNewChildInternal(newChild: LogicalPlan): SkewWindow = copy(child = newChild)
}

object SkewWindow {
  val Name = "SKEW_WINDOW"

  /**
   * Moves hints above filters and projections. Spark pushes these below a window only if no other node is in between.
   */
  object OutOfTheWay extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan =
      plan.transformUpWithPruning(_.containsPattern(UNRESOLVED_HINT)) {
        case filter @ Filter(_, hint: SkewWindow) => hint.copy(child = filter.copy(child = hint.child))
        case project @ Project(_, hint: SkewWindow) => hint.copy(child = project.copy(child = hint.child))
      }
  }
}
