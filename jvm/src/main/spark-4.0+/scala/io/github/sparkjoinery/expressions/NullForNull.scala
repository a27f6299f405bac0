package io.github.sparkjoinery.expressions

import org.apache.spark.sql.catalyst.expressions.Expression

/** An expression that is NULL if an input is. From Spark 4.0 on, a method says so. */
trait NullForNull extends Expression {
  override def nullIntolerant: Boolean = true
}
