package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation, LogicalPlan, Project}
import org.apache.spark.sql.execution.adaptive.LogicalQueryStage

import io.github.sparkjoinery.lastjoin.logical.LastRowPerKey

/** Tests if a side of a join is known to have no rows. */
private[rules] object EmptySide {
  def is(side: LogicalPlan): Boolean = side match {
    case local: LocalRelation => local.data.isEmpty && !local.isStreaming
    case stage: LogicalQueryStage => stage.isMaterialized && stage.stats.rowCount.contains(BigInt(0))
    case _: Project | _: Filter | _: LastRowPerKey => is(side.children.head)
    case _ => false
  }
}
