package io.github.sparkjoinery.execution

import org.apache.spark.sql.execution.SparkPlan

/**
 * Marks an operator whose children get whole-stage code of their own, as below Spark's shuffled joins. Spark has a
 * fixed list of operators that it treats so. Without the marker, a chain of joins would exceed the limit of two inputs
 * per generated stage.
 */
trait ChildrenInOwnStages extends SparkPlan
