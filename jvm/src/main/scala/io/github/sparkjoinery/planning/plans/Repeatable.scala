package io.github.sparkjoinery.planning.plans

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.expressions.{Expression, SparkPartitionID, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, LogicalQueryStage}
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation
import org.apache.spark.sql.execution.{ColumnarToRowTransition, LogicalRDD, SparkPlan, WholeStageCodegenExec}
import org.apache.spark.sql.joinery.Collations
import org.apache.spark.sql.joinery.FilesOf
import org.apache.spark.sql.types.{DoubleType, FloatType}

import io.github.sparkjoinery.expressions.KeyFilterExpression

/** Tests if a plan that is read twice in one query returns the same rows both times. */
object Repeatable {

  /**
   * True if the plan surely returns the same rows. False for a LIMIT, an aggregate that rounds, or a table of another
   * system, for example.
   */
  def apply(plan: LogicalPlan): Boolean = !ParsedText.isIn(plan) && isStable(plan) { // each scan has its own columns
    case _: Join => true
    case cached: InMemoryRelation => withinOneOperator(cached)
    case _ => false
  }

  /**
   * True if a task that runs again also has its rows in the same order, so that row numbers are the same. The rows must
   * not have been shuffled.
   */
  def inOrder(plan: LogicalPlan): Boolean = isStable(plan)(_ => false)

  /**
   * True if an operator that reads a plan twice gets the same rows both times. Spark does not run the shuffles below
   * again, but their rows may come in another order. The functions of an RDD may do anything unless the RDD is
   * checkpointed.
   */
  def withinOneOperator(plan: LogicalPlan): Boolean = isInAnyOrder(plan) {
    case rows: LogicalRDD => rows.rdd.isCheckpointed
    case FilesOf(_) => true
    case scan: DataSourceV2ScanRelation => PinnedTable.isPinned(scan.relation)
    case leaf => PinnedTable.isPinned(leaf)
  }

  /**
   * True if a lost stage returns the same rows when it runs again, provided that its tables do. The order of the
   * tables' rows may change. Sums of floating-point numbers may differ in their last digits; task numbers do not.
   */
  def afterStageRetry(plan: LogicalPlan): Boolean = isInAnyOrder(plan, isAgain = true)(_ => true)

  /** @param isAgain true if the same tasks run again; false if tasks of another job run */
  private def isInAnyOrder(plan: LogicalPlan, isAgain: Boolean = false)(isRepeatable: LogicalPlan => Boolean): Boolean =
    !plan.exists {
      case other if !other.expressions.forall(isSettled(_, isAgain)) => true
      case stage: LogicalQueryStage => !isInAnyOrder(stage.logicalPlan, isAgain)(isRepeatable)
      case cached: InMemoryRelation => !computed(cached).exists(isInAnyOrder(_, isAgain)(isRepeatable))
      case aggregate: Aggregate => !aggregate.groupingExpressions.forall(isOneValue) ||
        !aggregate.aggregateExpressions.forall(_.collect { case AggregateExpression(function, _, _, _, _) =>
          function
        }.forall(isInAnyOrder(_, isAgain)))
      case _: Project | _: Filter | _: Union | _: SubqueryAlias | _: Join | _: Sort | _: RepartitionOperation => false
      case _: Generate | _: Expand | _: ResolvedHint | _: BaseEvalPython | _: PassThroughNode => false
      case other => other.children.nonEmpty || !isRepeatable(other)
    }

  /**
   * Returns the plan of a cache; None if another operator has replaced the plan's root. The cache computes a block
   * again that did not fit, was evicted, or was lost with an executor.
   */
  private def computed(cached: InMemoryRelation): Option[LogicalPlan] =
    rootOf(cached.cacheBuilder.cachedPlan).logicalLink

  @tailrec private def rootOf(plan: SparkPlan): SparkPlan = plan match {
    case adaptive: AdaptiveSparkPlanExec => rootOf(adaptive.inputPlan)
    case stage: WholeStageCodegenExec => rootOf(stage.child)
    case columns: ColumnarToRowTransition => rootOf(columns.child)
    case root => root
  }

  private def isSettled(expression: Expression, isAgain: Boolean): Boolean = expression match {
    case _ if expression.deterministic => true
    case _: SparkPartitionID => isAgain
    case _ => !expression.children.forall(_.deterministic) && expression.children.forall(isSettled(_, isAgain))
  }

  /** True if the result of an aggregate function does not depend on the order of its values. */
  private def isInAnyOrder(function: AggregateFunction, rounds: Boolean): Boolean = function match {
    case _: Count => true
    case _: Min | _: Max => isOneValue(function)
    case _: CentralMomentAgg => rounds
    case _: Sum | _: Average =>
      rounds || !function.children.map(_.dataType).exists(t => t == FloatType || t == DoubleType)
    case _ => false
  }

  /** True if equal values have the same bytes. */
  private def isOneValue(value: Expression): Boolean = Collations.isBinaryStable(value.dataType)

  private def isStable(plan: LogicalPlan)(isOther: LogicalPlan => Boolean): Boolean =
    plan.deterministic && !plan.exists {
      node =>
        node.expressions.exists(hasSubquery) || (node match {
          case _: Project | _: Filter | _: Union | _: SubqueryAlias | _: LocalRelation | _: Range => false
          case FilesOf(_) => false
          case other => !isOther(other)
        })
    }

  private def hasSubquery(expression: Expression): Boolean = expression match {
    case _: KeyFilterExpression => false
    case _: SubqueryExpression => true
    case other => other.children.exists(hasSubquery)
  }
}
