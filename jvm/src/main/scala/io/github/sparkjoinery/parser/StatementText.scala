package io.github.sparkjoinery.parser

import org.apache.spark.sql.internal.VariableSubstitution

private[parser] object StatementText {

  /** Returns the text that Spark's parser reads. Spark substitutes variables, and the words may come from one. */
  def substituted(sqlText: String): String =
    if (sqlText.contains("${")) new VariableSubstitution().substitute(sqlText) else sqlText
}
