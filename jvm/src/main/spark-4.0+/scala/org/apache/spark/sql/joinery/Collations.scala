package org.apache.spark.sql.joinery

import org.apache.spark.sql.catalyst.expressions.{CollationKey, Expression}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.types.{DataType, StringType}

/** Tells which values compare by their bytes. From Spark 4.0 on, strings may have a collation. */
object Collations {

  /** True if equal values have equal bytes. */
  def isBinaryStable(dataType: DataType): Boolean = UnsafeRowUtils.isBinaryStable(dataType)

  /** True if strings of a type sort as their bytes do. */
  def sortsByBytes(text: StringType): Boolean = text.supportsBinaryOrdering

  /** Returns an expression whose bytes are equal if the strings are. */
  def key(text: Expression): Expression = CollationKey(text)
}
