package io.github.sparkjoinery.filters.rules

import org.apache.spark.sql.catalyst.plans.logical.{HintInfo, JoinHint}

import io.github.sparkjoinery.planning.plans.{JoineryHint, ResolveJoineryHint}

/** The hint `RUNTIME_FILTER(t)` asks for a filter of t's keys without a check of costs, where it can save a shuffle. */
object RuntimeFilterHint {
  val Name = "RUNTIME_FILTER"

  def isOn(hint: JoinHint): Boolean = isOn(hint.leftHint) || isOn(hint.rightHint)

  def isOn(side: Option[HintInfo]): Boolean = JoineryHint.isOn(Name, side) || side.exists(isSparks)

  /**
   * True for the hint of the same name and meaning that Spark resolves itself from SPARK-59345 on. The field is found
   * by its name, as no released Spark has it.
   */
  private def isSparks(hint: HintInfo): Boolean =
    hint.getClass.getMethods.find(_.getName == "runtimeFilterSource").exists(_.invoke(hint) == true)
}

object ResolveRuntimeFilterHint extends ResolveJoineryHint(
    RuntimeFilterHint.Name,
    takesNumber = false,
    "the names or aliases of relations whose keys are to filter the other side of their join")
