package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}

/**
 * Extracts the mark of a LAST JOIN's right side. The mark is below projections if ORDER BY uses a column that the side
 * does not show: one that was selected away, an aggregate, a metadata column. Spark adds such a column below the mark
 * and projects it away above.
 */
object MarkedRight {
  def unapply(side: LogicalPlan): Option[LastJoinRight] = side match {
    case right: LastJoinRight => Some(right)
    case Project(list, child) if list.forall(_.isInstanceOf[Attribute]) => unapply(child)
    case _ => None
  }
}

/** Extracts the mark of a LAST JOIN's left side, which `as_of` may have put below projections in the same way. */
object MarkedLeft {
  def unapply(side: LogicalPlan): Option[LastJoinLeft] = side match {
    case left: LastJoinLeft => Some(left)
    case Project(list, child) if list.forall(_.isInstanceOf[Attribute]) => unapply(child)
    case _ => None
  }
}
