package io.github.sparkjoinery.planning

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.joinery.JoineryConf

/** Passes rows through; in EXPLAIN it shows the report of the plan below it. */
case class ExplainReportExec(report: Seq[PlanReport], child: SparkPlan) extends UnaryExecNode {
  override def nodeName: String = "JoineryReport"
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering
  override def supportsColumnar: Boolean = child.supportsColumnar
  override protected def doExecute(): RDD[InternalRow] = child.execute()
  override protected def doExecuteColumnar() = child.executeColumnar()
  override protected def stringArgs: Iterator[Any] = Iterator(report.mkString("[", "; ", "]"))
  override protected def withNewChildInternal(newChild: SparkPlan): ExplainReportExec = copy(child = newChild)
}

/** With `spark.joinery.explain`, puts the report on top of a plan, with adaptive execution and without. */
object ExplainReportRule extends Rule[SparkPlan] {
  override def apply(plan: SparkPlan): SparkPlan = plan match {
    case _ if !JoineryConf.explain => plan
    case _: ExplainReportExec | _: AdaptiveSparkPlanExec | _: Exchange => plan // there already, or part of a plan
    case _ =>
      val report = PlanReport.of(plan)
      if (report.isEmpty) plan else ExplainReportExec(report, plan)
  }

  /** The only hook for plans that are not adaptive. */
  object WithoutAdaptiveExecution extends ColumnarRule {
    override def preColumnarTransitions: Rule[SparkPlan] = ExplainReportRule
  }
}
