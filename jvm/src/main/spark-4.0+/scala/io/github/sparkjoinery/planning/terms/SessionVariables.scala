package io.github.sparkjoinery.planning.terms

import org.apache.spark.sql.catalyst.expressions.{Expression, VariableReference}

object SessionVariables {

  /** True for a variable of the session, which is new in Spark 4.0. */
  def isOne(expression: Expression): Boolean = expression.isInstanceOf[VariableReference]
}
