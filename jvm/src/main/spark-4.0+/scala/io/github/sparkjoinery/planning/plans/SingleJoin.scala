package io.github.sparkjoinery.planning.plans

import org.apache.spark.sql.catalyst.plans.{JoinType, LeftSingle}

/** Recognizes the join of a scalar subquery, a left join that fails at a second match. It is new in Spark 4.0. */
object SingleJoin {
  def unapply(joinType: JoinType): Boolean = joinType == LeftSingle
}
