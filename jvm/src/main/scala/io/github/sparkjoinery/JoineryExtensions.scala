package io.github.sparkjoinery

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.joinery.{InnermostParser, JoineryConf, PrunePartitions}

import io.github.sparkjoinery.execution.{CodegenBoundaries, OneFilePerTask}
import io.github.sparkjoinery.filters.built.{
  BuildRuntimeFilters,
  KeySubquery,
  ResolveRuntimeFilterHint,
  RuntimeFilterStrategy
}
import io.github.sparkjoinery.filters.shuffled.FilterShuffledRows
import io.github.sparkjoinery.filters.stored.ApplyBloomFilters
import io.github.sparkjoinery.lastjoin.logical.{LastJoinAsOf, LastJoinOrder}
import io.github.sparkjoinery.lastjoin.rules._
import io.github.sparkjoinery.lastjoin.{LastJoinStrategy, SplitSkewedLastJoin, WaitForOwnRightSide}
import io.github.sparkjoinery.parser.JoineryParser
import io.github.sparkjoinery.planning.{AlsoOfSubqueries, ExplainReport}
import io.github.sparkjoinery.rangejoin.{
  DistributeRangeJoin,
  RangeJoinStrategy,
  ResolveRangeJoinHint,
  SplitSkewedRangeJoin,
  UseStoredRangeIndex
}
import io.github.sparkjoinery.window.{ResolveSkewWindow, SkewWindow, SlidingWindowStrategy, SplitSkewedWindow}

/** Joinery's entry point: `spark.sql.extensions=io.github.sparkjoinery.JoineryExtensions`. */
class JoineryExtensions extends (SparkSessionExtensions => Unit) {

  override def apply(extensions: SparkSessionExtensions): Unit = OtherLine.misfit match {
    case Some(why) => OtherLine.inject(extensions, why)
    case None => Capabilities.inject(extensions)
  }
}

/**
 * All that Joinery adds to a session. (Apart from the entry point, whose class has to load on any Spark.)
 *
 * What runs when, for a query with a LAST JOIN:
 *   1. parser: [[JoineryParser]] reads the syntax; the join becomes Spark's own LEFT OUTER `Join` whose right child is
 *      a `LastJoinRight` that holds the ORDER BY terms;
 *   1. analyzer, resolution: [[ResolveLastJoinOrder]] does the same for the DataFrame form, and [[ResolveLastJoinAsOf]]
 *      writes its point-in-time condition. Everything Spark does to an ordinary join (USING, hints, self-join
 *      deduplication, coercion) works unchanged;
 *   1. analyzer, post-hoc and check: [[CheckLastJoinOrder]] and [[CheckLastJoin]] refuse what LAST JOIN cannot mean;
 *   1. plan normalization, after the analyzer and before the optimizer: [[PlanLastJoin]] turns the pair into the
 *      logical `LastJoin`, because a filter above a LEFT OUTER `Join` would make it an inner join; before that, columns
 *      that a side has but does not show come into the join, and columns of an outer query are taken out of it;
 *   1. optimizer: [[OptimizeLastJoin]], and what Spark does with a LEFT JOIN, in [[PushBelowLastJoin]] and
 *      [[NestedFieldsOfLastJoin]]; then, once filters are where they belong, [[InferFiltersOfLastJoin]] and
 *      [[DistributeLastJoin]];
 *   1. optimizer, and adaptive execution: [[RemoveEmptySides]] removes a join with an empty side;
 *   1. planner: [[LastJoinStrategy]] chooses `BroadcastLastJoin`, `ShuffledHashLastJoin` or `SortMergeLastJoin`, again
 *      on each re-plan of adaptive execution;
 *   1. adaptive execution: [[WaitForOwnRightSide]] sees to it that a right side which is measured first is run once;
 *   1. adaptive execution, both sides shuffled: [[SplitSkewedLastJoin]] has several tasks read a skewed partition;
 *   1. before code generation: [[CodegenBoundaries]] keeps both sides of a shuffled join in stages of their own;
 *   1. EXPLAIN: [[ExplainReport]] shows the reasons below the plan, when asked to.
 *
 * ASOF JOIN goes the same way: parsed into a `Join` whose right child is an `AsOfRight`, kept complete by
 * [[KeepMatchCondition]], checked by [[CheckAsOfJoin]], and made a `LastJoin` by [[PlanAsOfJoin]], as is Spark's own
 * `AsOfJoin`.
 *
 * For a join by a range:
 *   1. analyzer, resolution: [[ResolveRangeJoinHint]] reads the hint `RANGE_JOIN`;
 *   1. optimizer: [[UseStoredRangeIndex]] finds an index in the artifact store; [[DistributeRangeJoin]] cuts what has
 *      no equality, and no small side, into parts; both also for what EXISTS and IN become ([[AlsoOfSubqueries]]);
 *   1. planner: [[RangeJoinStrategy]] chooses `BroadcastRangeJoin` or `ShuffledRangeJoin`, or says why the join stays
 *      Spark's; again on each re-plan of adaptive execution.
 *
 * For a query with a window:
 *   1. analyzer, resolution: [[ResolveSkewWindow]] reads the hint `SKEW_WINDOW` and keeps it above each window of its
 *      SELECT;
 *   1. optimizer: [[SkewWindow.OutOfTheWay]] keeps hints out of the way of filters;
 *   1. planner: [[SlidingWindowStrategy]] chooses `SlidingWindow`, and whether hot keys are cut before the shuffle;
 *   1. adaptive execution, the input shuffled: [[SplitSkewedWindow]] has several tasks read a skewed partition.
 *
 * Rows of a join that match nothing are dropped before they are shuffled:
 *   1. analyzer, resolution: [[ResolveRuntimeFilterHint]] reads the hint `RUNTIME_FILTER`;
 *   1. optimizer: [[ApplyBloomFilters]], with `spark.joinery.store`, uses filters that are there;
 *      [[BuildRuntimeFilters]] adds a subquery that builds one;
 *   1. planner: [[RuntimeFilterStrategy]] leaves out what Spark's own rule has added to that;
 *   1. physical plan: [[KeySubquery]] makes the subquery one that no query waits for too long;
 *   1. adaptive execution, both sides shuffled: [[FilterShuffledRows]] has what it found to be few keys filter the
 *      other side before that is sorted.
 *
 * Whatever the operators: [[OneFilePerTask]] makes one partition more of 200, so that a task writes one file instead of
 * one for each.
 *
 * Below, each capability has a section, with its rules in the order in which they run.
 */
private object Capabilities {

  def inject(extensions: SparkSessionExtensions): Unit = {
    JoineryConf.register() // or SET would take any value until the first query
    extensions.injectFunction(JoineryVersion.function)
    InnermostParser.inject(extensions, new JoineryParser)

    // LAST JOIN and ASOF JOIN
    extensions.injectFunction(LastJoinOrder.function)
    extensions.injectFunction(LastJoinAsOf.function)
    extensions.injectHintResolutionRule(_ => RefuseTimeWindows)
    extensions.injectResolutionRule(_ => ResolveLastJoinOrder)
    extensions.injectResolutionRule(_ => KeepMatchCondition)
    extensions.injectResolutionRule(_ => ResolveLastJoinAsOf)
    extensions.injectPostHocResolutionRule(_ => CheckLastJoinOrder)
    extensions.injectPostHocResolutionRule(_ => CheckAsOfJoin)
    extensions.injectCheckRule(_ => CheckLastJoin)
    extensions.injectPlanNormalizationRule(_ => PlanLastJoin)
    extensions.injectPlanNormalizationRule(_ => PlanAsOfJoin)
    extensions.injectOptimizerRule(_ => OptimizeLastJoin)
    extensions.injectOptimizerRule(_ => PushBelowLastJoin)
    extensions.injectOptimizerRule(_ => NestedFieldsOfLastJoin)
    extensions.injectPreCBORule(_ => InferFiltersOfLastJoin)
    extensions.injectPreCBORule(_ => DistributeLastJoin)
    extensions.injectRuntimeOptimizerRule(_ => RemoveEmptySides)
    extensions.injectPlannerStrategy(_ => LastJoinStrategy)
    extensions.injectQueryStagePrepRule(_ => WaitForOwnRightSide)
    extensions.injectQueryStagePrepRule(_ => SplitSkewedLastJoin)

    // range joins
    extensions.injectResolutionRule(_ => ResolveRangeJoinHint)
    extensions.injectPreCBORule(_ => AlsoOfSubqueries(UseStoredRangeIndex, DistributeRangeJoin.concerns))
    extensions.injectPreCBORule(_ => AlsoOfSubqueries(DistributeRangeJoin, DistributeRangeJoin.concerns))
    extensions.injectPlannerStrategy(_ => RangeJoinStrategy)
    extensions.injectQueryStagePrepRule(_ => SplitSkewedRangeJoin)

    // windows
    extensions.injectResolutionRule(_ => ResolveSkewWindow)
    extensions.injectOptimizerRule(_ => SkewWindow.OutOfTheWay)
    extensions.injectPlannerStrategy(_ => SlidingWindowStrategy)
    extensions.injectQueryStagePrepRule(_ => SplitSkewedWindow)

    // filters
    extensions.injectResolutionRule(_ => ResolveRuntimeFilterHint)
    extensions.injectPreCBORule(_ => PrunePartitions)
    extensions.injectPreCBORule(_ => ApplyBloomFilters)
    extensions.injectPreCBORule(_ => AlsoOfSubqueries(BuildRuntimeFilters))
    extensions.injectPlannerStrategy(_ => RuntimeFilterStrategy)
    extensions.injectQueryStagePrepRule(_ => KeySubquery.Plan)
    extensions.injectQueryStageOptimizerRule(_ => FilterShuffledRows)

    // whatever the operators
    extensions.injectQueryStagePrepRule(_ => OneFilePerTask)
    extensions.injectColumnar(_ => CodegenBoundaries)
    extensions.injectPreCBORule(_ => ExplainReport.Show)
  }
}
