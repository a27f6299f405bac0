package io.github.sparkjoinery.planning.explain

import org.apache.spark.sql.execution.SparkPlan

/** An operator of Joinery. Spark's shuffles in a plan with such an operator get their width from their bytes. */
trait JoineryOperator extends SparkPlan
