package io.github.sparkjoinery

import org.apache.spark.SPARK_VERSION

/** Checks that the suites about ASOF JOIN share. */
trait AsOfJoinChecks extends LastJoinChecks {

  protected val Operators = LastJoinForms

  /** From this version on Spark has the syntax, and operators of its own. */
  protected val sparkHasAsOfJoin: Boolean = {
    val version = SPARK_VERSION.split("\\.").take(2).map(_.toInt)
    version(0) > 4 || version(0) == 4 && version(1) >= 3
  }

  /** ASOF JOIN by Spark's own parser and operators. */
  protected def onSparkAsOf[T](body: => T): T =
    withConf("spark.joinery.asofJoin.enabled" -> "false", "spark.sql.join.asofJoin.enabled" -> "true")(body)

  /** A statement gives the columns and rows that an ordinary join gives, and one of Joinery's operators runs it. */
  protected def checkAsOfJoin(query: String, oracle: String): Unit =
    checkLastJoin(query, oracle, "BroadcastLastJoin")
}
