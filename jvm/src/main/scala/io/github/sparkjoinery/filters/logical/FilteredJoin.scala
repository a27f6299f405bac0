package io.github.sparkjoinery.filters.logical

import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.optimizer.JoinSelectionHelper
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag

import io.github.sparkjoinery.planning.plans.LeftOuterLike

/** Tests and marks of joins, shared by stored and built filters. */
object FilteredJoin extends JoinSelectionHelper with SQLConfHelper {

  /** Marks a join whose stored filters are as good as any that a query could build. */
  val Sufficient: TreeNodeTag[Unit] = TreeNodeTag("joinery_filter_sufficient")

  /** True if a side of the join will be broadcast, by hint or by size. */
  def isBroadcast(plan: LogicalPlan): Boolean = plan match {
    case join: Join => isBroadcast(join)
    case join: LeftOuterLike => join.isBroadcast
    case _ => false
  }

  private def isBroadcast(join: Join): Boolean = {
    val otherwise =
      hintToSortMergeJoin(join.hint) || hintToShuffleHashJoin(join.hint) || hintToShuffleReplicateNL(join.hint)
    getBroadcastBuildSide(join, hintOnly = true, conf).isDefined ||
    !otherwise && getBroadcastBuildSide(join, hintOnly = false, conf).isDefined
  }
}
