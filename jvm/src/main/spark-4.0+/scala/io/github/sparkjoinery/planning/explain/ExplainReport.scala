package io.github.sparkjoinery.planning.explain

import org.apache.spark.sql.ExtendedExplainGenerator
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.joinery.{ExplainProviders, JoineryConf}

/** Shows the report of a plan below the plan, in EXPLAIN and in the UI, with `spark.joinery.explain`. */
class ExplainReport extends ExtendedExplainGenerator {
  // Spark skips a provider, with its title, if its constructor throws this error.
  if (!JoineryConf.explain) throw new UnsupportedOperationException("spark.joinery.explain is false")

  override def title: String = "Joinery"

  override def generateExtendedInfo(plan: SparkPlan): String = {
    val report = PlanReport.readFrom(plan)
    if (report.isEmpty) "no join or window" else report.mkString("\n")
  }
}

object ExplainReport {

  /** Adds the report to the session's EXPLAIN providers. It changes no plan, and must run before a plan is shown. */
  object Show extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan = {
      if (JoineryConf.explain) ExplainProviders.add(classOf[ExplainReport].getName)
      plan
    }
  }
}
