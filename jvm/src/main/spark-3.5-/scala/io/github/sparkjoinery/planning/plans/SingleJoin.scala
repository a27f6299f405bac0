package io.github.sparkjoinery.planning.plans

import org.apache.spark.sql.catalyst.plans.JoinType

/** Recognizes the join of a scalar subquery. Before Spark 4.0 no type of join is for that alone. */
object SingleJoin {
  def unapply(joinType: JoinType): Boolean = false
}
