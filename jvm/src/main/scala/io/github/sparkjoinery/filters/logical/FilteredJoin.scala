package io.github.sparkjoinery.filters.logical

import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.optimizer.JoinSelectionHelper
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.catalyst.trees.TreeNodeTag

/** What both kinds of filters ask of a join, and what they tell each other. */
object FilteredJoin extends JoinSelectionHelper with SQLConfHelper {

  /** On a join whose filters from the store are as good as any that a query could build. */
  val Sufficient: TreeNodeTag[Unit] = TreeNodeTag("joinery_filter_sufficient")

  /** Whether a side of it will be broadcast, by hint or by size. */
  def isBroadcast(join: Join): Boolean = {
    val otherwise =
      hintToSortMergeJoin(join.hint) || hintToShuffleHashJoin(join.hint) || hintToShuffleReplicateNL(join.hint)
    getBroadcastBuildSide(join, hintOnly = true, conf).isDefined ||
    !otherwise && getBroadcastBuildSide(join, hintOnly = false, conf).isDefined
  }
}
