package io.github.sparkjoinery.window

import org.apache.spark.SparkContext
import org.apache.spark.sql.catalyst.plans.logical.Window
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive._
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.execution.skew.{Skew, SplitSkewed}
import io.github.sparkjoinery.window.parts.{CutAtRead, StoredCuts}

/**
 * Under adaptive execution, once the input of a `SlidingWindow` is shuffled: has several tasks read a skewed partition,
 * each of which computes a part of its hot keys, and some of the others. (Article 2: skewed windows, W1 to W4. Parts
 * are told apart while they are read, so that the shuffle itself shows what is skewed, and no row is shuffled twice.)
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
        val skew = new Skew(stage, JoineryConf.skewSplitMinPartition)
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

  /** How many tasks are to read each partition of a shuffle. */
  def partsOf(stage: ShuffleQueryStageExec, insisted: Option[Int]): Seq[Int] = {
    val skew = new Skew(stage, JoineryConf.skewSplitMinPartition)
    skew.sizes.toSeq.indices.map { i =>
      insisted match {
        case Some(parts) =>
          if (skew.sizes(i) > 0 && skew.sizes(i) * 2 >= skew.sizes.max) parts else 1 // small ones are not in the way
        case None if !JoineryConf.windowSkewSplitAtRead => 1
        case None => math.min(skew.parts(i), maxParts)
      }
    }
  }

  /** Each part reads all of its partition, so more parts than cores only make more to read. */
  private def maxParts: Int = math.max(2, math.min(SparkContext.getOrCreate().defaultParallelism, 32))
}
