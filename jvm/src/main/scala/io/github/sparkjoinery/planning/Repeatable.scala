package io.github.sparkjoinery.planning

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.expressions.{Expression, SparkPartitionID, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern.PYTHON_UDF
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, LogicalQueryStage}
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.{ColumnarToRowTransition, LogicalRDD, SparkPlan, WholeStageCodegenExec}
import org.apache.spark.sql.types.{DoubleType, FloatType}

import io.github.sparkjoinery.expressions.OfRuntimeFilter

/** Whether a plan, read twice in one query, has the same rows both times. */
object Repeatable {

  /** Of what is not known to, such as a LIMIT, an aggregate that rounds, or a table of another system, it is false. */
  def apply(plan: LogicalPlan): Boolean = !ParsedText.isIn(plan) && is(plan) { // each reading has columns of its own
    case _: Join => true
    case cached: InMemoryRelation => ofOneOperator(cached)
    case _ => false
  }

  /**
   * Whether a task that runs again has its rows in the same order, too, so that their numbers are the same: they have
   * not been shuffled.
   */
  def inOrder(plan: LogicalPlan): Boolean = is(plan)(_ => false)

  /**
   * Whether a subquery reads at least the rows that some join of the query matches, at the same time as the join does.
   * What runtime filters below let pass may differ; they drop only rows that match nothing. Tables have to be pinned
   * already, as no later rule of the optimizer pins what a subquery reads, nor prepares functions of Python.
   */
  def ofMatches(plan: LogicalPlan): Boolean =
    !plan.containsPattern(PYTHON_UDF) && is(plan)(_.children.isEmpty) && plan.collectLeaves().forall(PinnedTable.is)

  /**
   * Whether an operator that reads a plan twice has the same rows both times. What was shuffled for it is not shuffled
   * again, but may come in another order. The functions of an RDD may do anything, until it is checkpointed.
   */
  def ofOneOperator(plan: LogicalPlan): Boolean = isInAnyOrder(plan) {
    case rows: LogicalRDD => rows.rdd.isCheckpointed
    case LogicalRelation(_: HadoopFsRelation, _, _, _, _) => true
    case scan: DataSourceV2ScanRelation => PinnedTable.is(scan.relation)
    case leaf => PinnedTable.is(leaf)
  }

  /**
   * Whether a stage of which a part is lost has the same rows again, as far as its operators decide, in whichever order
   * the tables give theirs. Sums of floating-point numbers may differ in their last digits; numbers of tasks do not.
   */
  def ofSameTables(plan: LogicalPlan): Boolean = isInAnyOrder(plan, isAgain = true)(_ => true)

  /**
   * @param isAgain
   *   the same tasks run again; else others, of another job
   */
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
      case _: Generate | _: Expand | _: ResolvedHint | _: BaseEvalPython | _: RowsOfChild => false
      case other => other.children.nonEmpty || !isRepeatable(other)
    }

  /**
   * The plan of a cache, which computes a block again that has found no room, is evicted, or is lost with an executor.
   * None if another operator has taken the place of its root.
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

  /** Whether it does not matter in which order an aggregate function has its values. */
  private def isInAnyOrder(function: AggregateFunction, rounds: Boolean): Boolean = function match {
    case _: Count => true
    case _: Min | _: Max => isOneValue(function)
    case _: CentralMomentAgg => rounds
    case _: Sum | _: Average =>
      rounds || !function.children.map(_.dataType).exists(t => t == FloatType || t == DoubleType)
    case _ => false
  }

  /** Whether values that are equal are the same. */
  private def isOneValue(value: Expression): Boolean = UnsafeRowUtils.isBinaryStable(value.dataType)

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
