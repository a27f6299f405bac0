package org.apache.spark.sql.joinery

import org.apache.spark.sql.types.StringType

/** Tells whether strings of a type sort as their bytes do, which is private to Spark's package. */
object StringOrder {
  def isOfBytes(text: StringType): Boolean = text.supportsBinaryOrdering
}
