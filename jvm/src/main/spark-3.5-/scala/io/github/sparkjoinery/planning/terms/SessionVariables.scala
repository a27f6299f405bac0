package io.github.sparkjoinery.planning.terms

import org.apache.spark.sql.catalyst.expressions.Expression

object SessionVariables {

  /** True for a variable of the session. Before Spark 4.0 there are none. */
  def isOne(expression: Expression): Boolean = false
}
