package io.github.sparkjoinery.filters.logical

import org.apache.spark.sql.catalyst.plans._

import io.github.sparkjoinery.planning.plans.SingleJoin

/** The sides whose columns in a row of a join are always those of a row of the side, and never NULLs that it adds. */
object EmittedSides {

  def hasLeft(joinType: JoinType): Boolean = joinType match {
    case _: InnerLike | LeftOuter | SingleJoin() | LeftSemi | LeftAnti | _: ExistenceJoin => true
    case _ => false
  }

  def hasRight(joinType: JoinType): Boolean = joinType match {
    case _: InnerLike | RightOuter => true
    case _ => false
  }
}
