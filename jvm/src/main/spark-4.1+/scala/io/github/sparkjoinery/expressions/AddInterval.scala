package io.github.sparkjoinery.expressions

import org.apache.spark.sql.catalyst.expressions.{Expression, TimestampAddInterval}

/** What adds an interval to a timestamp: `TimestampAddInterval`, as Spark 4.1 renamed `TimeAdd`. */
object AddInterval {
  def apply(start: Expression, interval: Expression, timeZone: Option[String]): Expression =
    TimestampAddInterval(start, interval, timeZone)

  def unapply(added: TimestampAddInterval): Option[(Expression, Expression, Option[String])] =
    TimestampAddInterval.unapply(added)
}
