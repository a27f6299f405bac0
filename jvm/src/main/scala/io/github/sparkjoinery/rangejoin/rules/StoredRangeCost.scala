package io.github.sparkjoinery.rangejoin.rules

import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.plans.logical.statsEstimation.EstimationUtils
import org.apache.spark.sql.catalyst.plans.logical.{BROADCAST, Join, LogicalPlan}
import org.apache.spark.sql.joinery.JoineryConf
import org.apache.spark.sql.joinery.SparkSession

import io.github.sparkjoinery.artifacts.{ArtifactVersion, RangeIndexVersion}
import io.github.sparkjoinery.rangejoin.logical.RangeJoinType

/** Decides if loading a stored index is the cheapest plan. */
private[rangejoin] object StoredRangeCost {
  // Approximate nanoseconds per row, from the benchmarks range_stored and range_point. All executors read and search in
  // parallel. A single process loads an index, or collects the rows, builds the index and sends it.
  private val Load = 250.0
  private val Build = 800.0
  private val Search = 300.0

  /** Bytes per row that an index takes in addition to the row. */
  private val Overhead = 40

  /** The reason why another plan is better, if there is one. */
  def dear(
      join: Join,
      side: BuildSide,
      hasKeys: Boolean,
      version: ArtifactVersion,
      session: SparkSession): Option[String] = {
    val rows = RangeIndexVersion.rows(version).toDouble
    val (stored, other) = if (side == BuildLeft) (join.left, join.right) else (join.right, join.left)
    val otherSide = if (side == BuildLeft) BuildRight else BuildLeft
    val size = rows * (EstimationUtils.getSizePerRow(stored.output).toDouble + Overhead)
    val otherRows = rowsOf(other)
    val tasks = session.sparkContext.defaultParallelism
    def searches(rows: Double, side: BuildSide) =
      rows * Search / tasks * (if (RangeJoinType.givesOutIndexed(join.joinType, side)) 2 else 1)
    val loaded = rows * Load + searches(otherRows, side)
    val built = otherRows * Build + searches(rows, otherSide)
    val isHinted = (join.hint.leftHint ++ join.hint.rightHint).exists(_.strategy.contains(BROADCAST)) // on this side
    val otherIsIndexed = !isHinted && !hasKeys && other.stats.sizeInBytes <= RangeJoinStrategy.limit
    if (size > JoineryConf.rangeJoinMaxBroadcast)
      Some(s"with its ${rows.toLong} rows it would take more than spark.joinery.rangeJoin.maxBroadcast")
    else if (otherIsIndexed && built < loaded) Some("an index of the other side is cheaper")
    else None
  }

  private def rowsOf(plan: LogicalPlan): Double = plan.stats.rowCount.map(_.toDouble)
    .getOrElse(plan.stats.sizeInBytes.toDouble / EstimationUtils.getSizePerRow(plan.output).toDouble)
}
