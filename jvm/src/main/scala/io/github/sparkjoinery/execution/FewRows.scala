package io.github.sparkjoinery.execution

import org.apache.spark.sql.execution.SparkPlan

/** An operator whose rows will be few, although no estimate says so. */
trait FewRows extends SparkPlan
