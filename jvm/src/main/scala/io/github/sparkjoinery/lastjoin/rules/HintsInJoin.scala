package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.SparkException
import org.apache.spark.sql.catalyst.optimizer.EliminateResolvedHint
import org.apache.spark.sql.catalyst.plans.logical.Join

/** Spark keeps hints as nodes below a join until its optimizer moves them into the join: here that is done earlier. */
private[rules] object HintsInJoin {
  def apply(join: Join): Join = EliminateResolvedHint(join) match {
    case bare: Join => bare
    case other => throw SparkException.internalError(s"without its hints a join became $other")
  }
}
