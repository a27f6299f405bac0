package org.apache.spark.sql.joinery

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers

/** Calls Spark's normalization of join keys (-0.0 = 0.0, one NaN), which is private to its package. */
object FloatingPointKeys {
  def normalize(key: Expression): Expression = NormalizeFloatingNumbers.normalize(key)
}
