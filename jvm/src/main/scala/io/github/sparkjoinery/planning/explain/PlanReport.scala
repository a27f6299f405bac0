package io.github.sparkjoinery.planning.explain

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.module.scala.DefaultScalaModule

import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Complete, Final, MinBy}
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec
import org.apache.spark.sql.execution.joins._
import org.apache.spark.sql.execution.window.WindowExecBase
import org.apache.spark.sql.execution.{QueryExecution, SparkPlan}

/**
 * One line of the report: a join or window of the physical plan.
 *
 * @param operator
 *   its name in EXPLAIN
 * @param kind
 *   `join` or `window`
 * @param joinery
 *   true if it is one of Joinery's operators
 * @param reason
 *   the reason why it was chosen, or why Joinery left it to Spark
 * @param detail
 *   the operator with its arguments, as in EXPLAIN
 */
case class PlanReport(operator: String, kind: String, joinery: Boolean, reason: String, detail: String) {
  override def toString: String = s"$operator: $reason"
}

object PlanReport extends AdaptiveSparkPlanHelper {

  /**
   * Returns one line per join and window. As-of joins that Joinery left to Spark for the same reason share a line,
   * because Spark may plan them repeatedly.
   */
  def readFrom(plan: SparkPlan): Seq[PlanReport] = {
    val (rewritten, others) = entries(plan).partition(_.kind == AsOfJoin)
    others ++ rewritten.map(_.reason).distinct.flatMap(reason => rewritten.find(_.reason == reason)).map(_.copy(kind =
      "join"))
  }

  private val AsOfJoin = "as-of join"

  private def entries(plan: SparkPlan): Seq[PlanReport] = ownEntries(plan) ++ cachedPlans(plan).flatMap(entries)

  private def cachedPlans(plan: SparkPlan): Seq[SparkPlan] =
    collectWithSubqueries(plan) { case scan: InMemoryTableScanExec => scan.relation.cachedPlan }.distinct

  private def ownEntries(plan: SparkPlan): Seq[PlanReport] = collectWithSubqueries(plan) {
    case node: ReportedOperator =>
      entry(node, node.reportedAs, joinery = true, Decision.textOf(node).getOrElse(node.usualReason))
    case node: BaseJoinExec => entry(node, "join", joinery = false, stockJoin(node))
    case node: BaseAggregateExec if asOfJoin(node).isDefined =>
      entry(node, AsOfJoin, joinery = false, asOfJoin(node).get)
    case node: WindowExecBase =>
      entry(
        node,
        "window",
        joinery = false,
        Decision.textOf(node).getOrElse("an ordinary window, which Spark's operator serves"))
  }

  /** The report as a JSON array, for `joinery explain`. */
  def json(query: QueryExecution): String = mapper.writeValueAsString(readFrom(query.executedPlan))

  private lazy val mapper = new ObjectMapper().registerModule(DefaultScalaModule)

  private def entry(node: SparkPlan, kind: String, joinery: Boolean, reason: String): PlanReport =
    PlanReport(node.nodeName, kind, joinery, reason, node.simpleString(maxFields = 25))

  /**
   * Returns why Joinery left an as-of join to Spark. Spark has rewritten the join to this aggregation: `min_by` of the
   * distance.
   */
  private def asOfJoin(node: BaseAggregateExec): Option[String] =
    node.aggregateExpressions.collectFirst(Function.unlift {
      case AggregateExpression(nearest: MinBy, Final | Complete, _, _, _) => Decision.textOf(nearest.orderingExpr)
      case _ => None
    })

  private def stockJoin(node: SparkPlan): String =
    Decision.textOf(node).getOrElse("an ordinary join, which Spark's operator serves")
}
