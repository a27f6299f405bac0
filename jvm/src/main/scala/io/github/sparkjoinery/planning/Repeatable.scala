package io.github.sparkjoinery.planning

import org.apache.spark.sql.catalyst.expressions.SubqueryExpression
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

/** Whether a plan, read twice in one query, has the same rows both times. */
object Repeatable {

  /** Of what is not known to, such as a LIMIT, an aggregate that rounds, or a table of another system, it is false. */
  def apply(plan: LogicalPlan): Boolean = is(plan) {
    case _: Join | _: InMemoryRelation => true
    case _ => false
  }

  /**
   * Whether a task that runs again has its rows in the same order, too, so that their numbers are the same: they have
   * not been shuffled.
   */
  def inOrder(plan: LogicalPlan): Boolean = is(plan)(_ => false)

  private def is(plan: LogicalPlan)(isOther: LogicalPlan => Boolean): Boolean = plan.deterministic && !plan.exists {
    node =>
      node.expressions.exists(SubqueryExpression.hasSubquery) || (node match {
        case _: Project | _: Filter | _: Union | _: SubqueryAlias | _: LocalRelation | _: Range => false
        case LogicalRelation(_: HadoopFsRelation, _, _, _, _) => false
        case other => !isOther(other)
      })
  }
}
