package io.github.sparkjoinery.window.rules

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.{Literal, SubExprUtils}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.UNRESOLVED_HINT

import io.github.sparkjoinery.planning.JoineryException
import io.github.sparkjoinery.window.logical.SkewWindow

/**
 * Resolves the hint SKEW_WINDOW(parts) of a SELECT. It puts the hint on each window of the SELECT after Spark has found
 * them.
 */
object ResolveSkewWindow extends Rule[LogicalPlan] with Logging {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUpWithPruning(
    _.containsPattern(UNRESOLVED_HINT)) {
    case hint @ UnresolvedHint(name, arguments, child) if name.equalsIgnoreCase(SkewWindow.Name) =>
      SkewWindow(parts(hint, arguments), child)
    case SkewWindow(parts, child) if child.resolved && SubExprUtils.hasOuterReferences(child) =>
      // Spark decorrelates only its own nodes.
      logWarning(s"hint ${SkewWindow.Name}($parts) has no effect in a subquery with columns of an outer query")
      child
    case hint @ SkewWindow(parts, child) if child.resolved && !child.isInstanceOf[Window] =>
      val placed = place(parts, child)
      if (placed.fastEquals(child)) logWarning(s"hint ${SkewWindow.Name}($parts): its SELECT has no window")
      placed
  }

  private def parts(hint: UnresolvedHint, arguments: Seq[Any]): Int = arguments match {
    case Seq(Literal(parts: Int, _)) if parts >= 1 && parts <= Most => parts
    case Seq(parts: Int) if parts >= 1 && parts <= Most => parts
    case _ => throw new JoineryException(
        "INVALID_HINT",
        s"The hint ${SkewWindow.Name} takes one number, of parts to split each hot key into, from 1 (none) to $Most: " +
          s"/*+ ${SkewWindow.Name}(4) */. It has ${if (arguments.isEmpty) "none" else arguments.mkString(", ")}.",
        hint.origin,
        SkewWindow.Name
      )
  }

  private def place(parts: Int, plan: LogicalPlan): LogicalPlan = plan match {
    case window: Window => SkewWindow(parts, window.withNewChildren(Seq(place(parts, window.child))))
    case node @ (_: Project | _: Filter | _: Distinct) => node.withNewChildren(node.children.map(place(parts, _)))
    case other => other
  }

  private val Most = 1024
}
