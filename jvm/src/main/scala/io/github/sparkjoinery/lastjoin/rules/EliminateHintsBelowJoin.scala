package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.SparkException
import org.apache.spark.sql.catalyst.optimizer.EliminateResolvedHint
import org.apache.spark.sql.catalyst.plans.logical.Join

/** Replaces hint nodes below a join by hints of the join. Spark does the same, but later, in its optimizer. */
private[rules] object EliminateHintsBelowJoin {
  def apply(join: Join): Join = EliminateResolvedHint(join) match {
    case bare: Join => bare
    case other => throw SparkException.internalError(s"without its hints a join became $other")
  }
}
