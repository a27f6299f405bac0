package io.github.sparkjoinery.rangejoin.rules

import org.apache.spark.sql.catalyst.plans.logical.JoinHint

import io.github.sparkjoinery.planning.plans.{JoineryHint, ResolveJoineryHint}

/** The hint `RANGE_JOIN(t)`, which insists on a range join. */
object RangeJoinHint {
  val Name = "RANGE_JOIN"

  def isOn(hint: JoinHint): Boolean = Seq(hint.leftHint, hint.rightHint).exists(JoineryHint.isOn(Name, _))
}

/** Resolves the hint. Databricks' form `RANGE_JOIN(t, 10)` has a bin size, which an index does not need. */
object ResolveRangeJoinHint extends ResolveJoineryHint(
    RangeJoinHint.Name,
    takesNumber = true,
    "the names or aliases of relations, and then, if you like, the size of a bin, a number that is not used")
