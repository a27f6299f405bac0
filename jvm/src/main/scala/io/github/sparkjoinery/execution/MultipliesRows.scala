package io.github.sparkjoinery.execution

import org.apache.spark.sql.execution.SparkPlan

/** An operator that may emit many more rows than it reads. The bytes of its inputs say nothing about its output. */
trait MultipliesRows extends SparkPlan
