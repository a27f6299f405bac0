package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}

/**
 * The mark of a LAST JOIN's right side. It need not be on top: where ORDER BY takes a column that the side does not
 * show (one that was selected away, an aggregate, a metadata column), Spark adds it below the mark and projects it away
 * again above.
 */
object MarkedRight {
  def unapply(side: LogicalPlan): Option[LastJoinRight] = side match {
    case right: LastJoinRight => Some(right)
    case Project(list, child) if list.forall(_.isInstanceOf[Attribute]) => unapply(child)
    case _ => None
  }
}

/** The mark of its left side, where `as_of` may take such a column. */
object MarkedLeft {
  def unapply(side: LogicalPlan): Option[LastJoinLeft] = side match {
    case left: LastJoinLeft => Some(left)
    case Project(list, child) if list.forall(_.isInstanceOf[Attribute]) => unapply(child)
    case _ => None
  }
}
