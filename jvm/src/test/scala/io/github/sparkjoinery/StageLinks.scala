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
 * Looks at all queries of all suites. Adaptive execution puts a finished stage in the place of the logical node that it
 * is linked to, which then has as many rows as the stage. So the stage has to compute that node; or the node has no
 * more rows than go through the stage, as an aggregate or a window has. A stage that is linked to a join above it makes
 * Spark take the rows of one side for the join's, and drop a LIMIT.
 */
class StageLinks extends QueryExecutionListener with AdaptiveSparkPlanHelper {

  private val wrong = new ConcurrentLinkedQueue[String]

  /** What was found since this was asked last. */
  def found(): Seq[String] = Iterator.continually(wrong.poll()).takeWhile(_ != null).toVector

  override def onSuccess(name: String, query: QueryExecution, nanoseconds: Long): Unit =
    for {
      stage <-
        collectWithSubqueries(query.executedPlan) { case stage: ExchangeQueryStageExec if !isReused(stage) => stage }
      link <- stage.logicalLink.map(beneath) if !isComputedBy(stage.plan, link) && !hasNoMoreRows(link)
    } wrong.add(s"A stage is linked to\n${link}instead of what it computes\n$stage")

  override def onFailure(name: String, query: QueryExecution, error: Exception): Unit = ()

  /** Then the stage that it reuses is looked at. */
  private def isReused(stage: ExchangeQueryStageExec): Boolean = stage.plan.isInstanceOf[ReusedExchangeExec]

  /** What a stage stands for, after it was put there. */
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
