package io.github.sparkjoinery.expressions

import org.apache.spark.sql.catalyst.expressions.{Expression, TimeAdd}

/** What adds an interval to a timestamp is `TimeAdd`; Spark 4.1 renamed it `TimestampAddInterval`. */
object AddInterval {
  def apply(start: Expression, interval: Expression, timeZone: Option[String]): Expression =
    TimeAdd(start, interval, timeZone)

  def unapply(added: TimeAdd): Option[(Expression, Expression, Option[String])] = TimeAdd.unapply(added)
}
