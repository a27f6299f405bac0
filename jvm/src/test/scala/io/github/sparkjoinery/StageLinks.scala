package io.github.sparkjoinery

import java.util.concurrent.ConcurrentLinkedQueue

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, Window, WindowGroupLimit}
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanHelper, ExchangeQueryStageExec, LogicalQueryStage}
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.execution.{QueryExecution, SparkPlan}
import org.apache.spark.sql.util.QueryExecutionListener

import io.github.sparkjoinery.lastjoin.logical.LastRowPerKey

/**
 * Checks the stages of all queries of all suites. Adaptive execution puts a finished stage in the place of the logical
 * node that it is linked to. Spark then counts the stage's rows as those of the node. The stage must therefore compute
 * that node, or the node must have no more rows than the stage, as an aggregate or a window. If a stage is linked to a
 * join above it, Spark takes the rows of one side for the join's, and drops a LIMIT.
 */
class StageLinks extends QueryExecutionListener with AdaptiveSparkPlanHelper {

  private val wrong = new ConcurrentLinkedQueue[String]

  /** The wrong links found since the last call. */
  def found(): Seq[String] = Iterator.continually(wrong.poll()).takeWhile(_ != null).toVector

  override def onSuccess(name: String, query: QueryExecution, nanoseconds: Long): Unit =
    for {
      stage <-
        collectWithSubqueries(query.executedPlan) { case stage: ExchangeQueryStageExec if !isReused(stage) => stage }
      link <- stage.logicalLink.map(beneath) if !isComputedBy(stage.plan, link) && !hasNoMoreRows(link)
    } wrong.add(s"A stage is linked to\n${link}instead of what it computes\n$stage")

  override def onFailure(name: String, query: QueryExecution, error: Exception): Unit = ()

  /** True if the stage reuses another stage, which is checked itself. */
  private def isReused(stage: ExchangeQueryStageExec): Boolean = stage.plan.isInstanceOf[ReusedExchangeExec]

  /** The logical node that a finished stage has replaced. */
  @tailrec private def beneath(link: LogicalPlan): LogicalPlan = link match {
    case stage: LogicalQueryStage => beneath(stage.logicalPlan)
    case _ => link
  }

  private def isComputedBy(plan: SparkPlan, link: LogicalPlan): Boolean =
    collectFirst(plan) {
      case part if part.getTagValue(SparkPlan.LOGICAL_PLAN_TAG).exists(beneath(_) eq link) => part
    }.isDefined

  private def hasNoMoreRows(link: LogicalPlan): Boolean = link match {
    case _: Aggregate | _: LastRowPerKey | _: Window | _: WindowGroupLimit => true
    case _ => false
  }
}
