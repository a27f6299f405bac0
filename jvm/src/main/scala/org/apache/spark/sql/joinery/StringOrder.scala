package org.apache.spark.sql.joinery

import org.apache.spark.sql.types.StringType

/** Spark keeps to itself whether strings of a type sort as their bytes do. */
object StringOrder {
  def isOfBytes(text: StringType): Boolean = text.supportsBinaryOrdering
}
