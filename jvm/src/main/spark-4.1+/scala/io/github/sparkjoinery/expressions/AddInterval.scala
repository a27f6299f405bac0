package io.github.sparkjoinery.expressions

import org.apache.spark.sql.catalyst.expressions.{Expression, TimestampAddInterval}

/**
 * Makes and matches the expression that adds an interval to a timestamp. It is `TimeAdd` before Spark 4.1,
 * `TimestampAddInterval` from 4.1 on.
 */
object AddInterval {
  def apply(start: Expression, interval: Expression, timeZone: Option[String]): Expression =
    TimestampAddInterval(start, interval, timeZone)

  def unapply(added: TimestampAddInterval): Option[(Expression, Expression, Option[String])] =
    TimestampAddInterval.unapply(added)
}
