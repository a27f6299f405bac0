package io.github.sparkjoinery.execution

import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.{FilterExec, SparkPlan}
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.expressions.MightContain
import io.github.sparkjoinery.planning.explain.JoineryOperator

/** Tells in which plans Joinery changes Spark's shuffles. */
object ShuffledPlans extends AdaptiveSparkPlanHelper {

  /** True for a plan with an operator or filter of Joinery, and for every plan if the user wants it. */
  def areChanged(plan: SparkPlan): Boolean = JoineryConf.shuffleWidth == "all" || find(plan) {
    case _: JoineryOperator => true
    case FilterExec(condition, _) => condition.exists(_.isInstanceOf[MightContain])
    case _ => false
  }.isDefined
}
