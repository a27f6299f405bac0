package io.github.sparkjoinery.planning

import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.expressions.{Expression, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types.{DecimalType, LongType}

import io.github.sparkjoinery.expressions.OfRuntimeFilter

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

  /**
   * Whether it has at least the rows that some join of the query matches. What runtime filters below let pass may
   * differ; they drop only rows that match nothing.
   */
  def ofMatches(plan: LogicalPlan): Boolean = is(plan) {
    case _: Join | _: InMemoryRelation | _: Sort | _: Distinct | _: RepartitionOperation => true
    case aggregate: Aggregate => aggregate.aggregateExpressions.forall(!_.exists {
        case call: AggregateExpression => !isExact(call.aggregateFunction)
        case _ => false
      })
    case _ => false
  }

  private def isExact(function: AggregateFunction): Boolean = function match {
    case _: Count | _: Min | _: Max => true
    case sum: Sum => sum.dataType == LongType || sum.dataType.isInstanceOf[DecimalType]
    case _ => false
  }

  private def is(plan: LogicalPlan)(isOther: LogicalPlan => Boolean): Boolean = plan.deterministic && !plan.exists {
    node =>
      node.expressions.exists(hasSubquery) || (node match {
        case _: Project | _: Filter | _: Union | _: SubqueryAlias | _: LocalRelation | _: Range => false
        case LogicalRelation(_: HadoopFsRelation, _, _, _, _) => false
        case other => !isOther(other)
      })
  }

  private def hasSubquery(expression: Expression): Boolean = expression match {
    case _: OfRuntimeFilter => false
    case _: SubqueryExpression => true
    case other => other.children.exists(hasSubquery)
  }
}
