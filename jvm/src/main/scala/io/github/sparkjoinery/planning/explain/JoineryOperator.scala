package io.github.sparkjoinery.planning.explain

import org.apache.spark.sql.execution.SparkPlan

/** An operator of Joinery. It makes a plan one whose shuffles Joinery changes. */
trait JoineryOperator extends SparkPlan
