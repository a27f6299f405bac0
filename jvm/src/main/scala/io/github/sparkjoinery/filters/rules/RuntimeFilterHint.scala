package io.github.sparkjoinery.filters.rules

import org.apache.spark.sql.catalyst.plans.logical.HintInfo

import io.github.sparkjoinery.planning.{JoineryHint, ResolveJoineryHint}

/** The hint `RUNTIME_FILTER(t)` asks for a filter of t's keys without a check of costs, where it can save a shuffle. */
object RuntimeFilterHint {
  val Name = "RUNTIME_FILTER"

  def isOn(side: Option[HintInfo]): Boolean = JoineryHint.isOn(Name, side)
}

object ResolveRuntimeFilterHint extends ResolveJoineryHint(
    RuntimeFilterHint.Name,
    takesNumber = false,
    "the names or aliases of relations whose keys are to filter the other side of their join")
