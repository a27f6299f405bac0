package io.github.sparkjoinery.parser

import org.apache.spark.sql.internal.VariableSubstitution

private[parser] object StatementText {

  /** What Spark's parser will read, which substitutes variables itself: the words may come from one. */
  def substituted(sqlText: String): String =
    if (sqlText.contains("${")) new VariableSubstitution().substitute(sqlText) else sqlText
}
