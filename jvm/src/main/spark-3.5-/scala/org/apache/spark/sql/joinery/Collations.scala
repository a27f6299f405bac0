package org.apache.spark.sql.joinery

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.types.{DataType, StringType}

/** Tells which values compare by their bytes. Before Spark 4.0 all strings do. */
object Collations {

  /** True if equal values have equal bytes. */
  def isBinaryStable(dataType: DataType): Boolean = true

  /** True if strings of a type sort as their bytes do. */
  def sortsByBytes(text: StringType): Boolean = true

  /** Returns an expression whose bytes are equal if the strings are. */
  def key(text: Expression): Expression = text
}
