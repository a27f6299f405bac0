package io.github.sparkjoinery.filters.logical

import org.apache.spark.sql.catalyst.plans._

import io.github.sparkjoinery.planning.plans.SingleJoin

/** The sides whose columns a join never replaces by NULLs: each row of the result has a row of such a side. */
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
