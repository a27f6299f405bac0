package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Sort}
import org.apache.spark.sql.catalyst.rules.Rule

import io.github.sparkjoinery.lastjoin.logical.{LastJoin, OrderAfterOn}
import io.github.sparkjoinery.planning.PlaceInText

/**
 * Finds `l LAST JOIN r ON ... ORDER BY r.ts`, where the ORDER BY comes after ON and sorts the result. It logs a warning
 * and marks the join for its report. The plan does not change, because the user may have meant that.
 */
object WarnOfOrderAfterOn extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan.collectWithSubqueries {
      case sort: Sort if sort.global =>
        joinBelow(sort.child).foreach { join =>
          if (join.order.isEmpty && sort.order.exists(_.references.intersect(join.right.outputSet).nonEmpty)) {
            OrderAfterOn.mark(join)
            logWarning(s"LAST JOIN: ${OrderAfterOn.Note}${PlaceInText.show(join.origin)}")
          }
        }
      case _ =>
    }
    plan
  }

  private def joinBelow(plan: LogicalPlan): Option[LastJoin] = plan match {
    case Project(_, child) => joinBelow(child)
    case join: LastJoin => Some(join)
    case _ => None
  }
}
