package io.github.sparkjoinery.planning.explain

import org.apache.spark.sql.execution.SparkPlan

/** An operator of Joinery. Joinery changes the shuffles of a plan with such an operator. */
trait JoineryOperator extends SparkPlan
