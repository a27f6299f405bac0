package org.apache.spark.sql.joinery

import org.apache.spark.sql.types.StringType

/** Tests if strings of a type sort as their bytes do. Spark's test is private to its package. */
object StringOrder {
  def isOfBytes(text: StringType): Boolean = text.supportsBinaryOrdering
}
