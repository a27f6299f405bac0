package io.github.sparkjoinery.rangejoin.logical

import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.plans._

/** The types of join that range joins support. */
object RangeJoinType {

  /** True if range joins support this type of join. */
  def supports(joinType: JoinType): Boolean = joinType match {
    case _: InnerLike | LeftOuter | RightOuter | FullOuter | LeftSemi | LeftAnti | _: ExistenceJoin => true
    case _ => false
  }

  /** True if the join emits rows of the indexed side by themselves, and not only for each match. */
  def givesOutIndexed(joinType: JoinType, indexedSide: BuildSide): Boolean = (joinType, indexedSide) match {
    case (FullOuter, _) => true
    case (RightOuter, BuildRight) => true
    case (LeftOuter | LeftSemi | LeftAnti | _: ExistenceJoin, BuildLeft) => true
    case _ => false
  }
}
