package io.github.sparkjoinery.window

import org.apache.spark.SparkContext
import org.apache.spark.sql.catalyst.plans.logical.Window
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive._
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.execution.skew.{Skew, SplitSkewed}
import io.github.sparkjoinery.window.parts.{CutAtRead, StoredCuts}

/**
 * Lets several tasks read a skewed partition of a `SlidingWindow`. Each task computes a part of the partition's hot
 * keys, and a share of the other keys. The rule runs under adaptive execution, after the input is shuffled.
 *
 * Article 2 (skewed windows, W1 to W4) shuffles by part. Here a task selects its part while it reads. The shuffle
 * itself thus shows which partitions are skewed, and no row is shuffled twice.
 */
object SplitSkewedWindow extends SplitSkewed {

  override protected def operator: String = "a window"

  override protected def split: PartialFunction[SparkPlan, SparkPlan] = {
    case window: SlidingWindowExec if window.cuts.isEmpty => splitWindow(window)
  }

  private def splitWindow(window: SlidingWindowExec): SparkPlan = (window.child, window.splitTerms) match {
    case (stage: ShuffleQueryStageExec, Right(terms)) if Skew.isKnown(stage) =>
      val sizes = partsOf(stage, window.parts)
      if (sizes.forall(_ == 1)) window
      else {
        val skew = new Skew(stage, JoineryConf.windowSkewSplitMinPartition)
        val specs = sizes.zipWithIndex.flatMap { case (parts, i) => Seq.fill(parts)(skew.whole(i)) }
        val child = window.logicalLink.collect { case logical: Window => logical.child }
        val stored = if (JoineryConf.store.isEmpty) None else StoredCuts.byPartition(stage, child, terms)
        window.copy(
          child = SkewJoinChildWrapper(AQEShuffleReadExec(stage, specs)),
          cuts = Some(new CutAtRead(stage, terms, stored)))
      }
    case (_, Left(reason)) =>
      if (window.parts.exists(_ > 1)) logWarning(s"hint SKEW_WINDOW: the window is not split: $reason")
      window
    case _ => window
  }

  /** Returns how many tasks read each partition of a shuffle. */
  def partsOf(stage: ShuffleQueryStageExec, insisted: Option[Int]): Seq[Int] = {
    val skew = new Skew(stage, JoineryConf.windowSkewSplitMinPartition)
    skew.sizes.toSeq.indices.map { i =>
      insisted match {
        case Some(parts) =>
          if (skew.sizes(i) > 0 && skew.sizes(i) * 2 >= skew.sizes.max) parts else 1 // too small to matter
        case None if !JoineryConf.windowSkewSplitAtRead => 1
        case None => math.min(skew.parts(i), maxParts)
      }
    }
  }

  /** Each part reads its whole partition, so more parts than cores only add reading. */
  private def maxParts: Int = math.max(2, math.min(SparkContext.getOrCreate().defaultParallelism, 32))
}
