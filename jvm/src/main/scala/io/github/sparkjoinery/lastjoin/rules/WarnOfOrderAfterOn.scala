package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Sort}
import org.apache.spark.sql.catalyst.rules.Rule

import io.github.sparkjoinery.lastjoin.logical.{LastJoin, OrderAfterOn}

/**
 * Finds `l LAST JOIN r ON ... ORDER BY r.ts`, where the ORDER BY comes after ON and sorts the result. It logs a warning
 * and marks the join for its report. The plan does not change, because the user may have meant that.
 */
object WarnOfOrderAfterOn extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan.foreachWithSubqueries {
      case sort: Sort if sort.global =>
        joinBelow(sort.child).foreach { join =>
          if (join.order.isEmpty && sort.order.exists(_.references.intersect(join.right.outputSet).nonEmpty)) {
            OrderAfterOn.mark(join)
            val place = join.origin.getQueryContext.headOption.map(context => "\n" + context.summary).getOrElse("")
            logWarning(s"LAST JOIN: ${OrderAfterOn.Note}$place")
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
