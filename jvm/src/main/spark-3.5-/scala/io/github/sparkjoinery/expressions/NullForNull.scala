package io.github.sparkjoinery.expressions

import org.apache.spark.sql.catalyst.expressions.{Expression, NullIntolerant}

/** An expression that is NULL if an input is. Before Spark 4.0, a trait of Spark says so. */
trait NullForNull extends Expression with NullIntolerant
