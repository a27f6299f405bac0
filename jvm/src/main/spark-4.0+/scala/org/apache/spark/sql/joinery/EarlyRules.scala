package org.apache.spark.sql.joinery

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

object EarlyRules {

  /** Adds a rule that runs before Spark resolves functions. */
  def inject(extensions: SparkSessionExtensions)(rule: => Rule[LogicalPlan]): Unit =
    extensions.injectHintResolutionRule(_ => rule)
}
