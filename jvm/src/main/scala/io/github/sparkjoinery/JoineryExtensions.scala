package io.github.sparkjoinery

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.execution.CodegenBoundaries
import io.github.sparkjoinery.filters.ApplyBloomFilters
import io.github.sparkjoinery.lastjoin.logical.{LastJoinAsOf, LastJoinOrder}
import io.github.sparkjoinery.lastjoin.rules.{CheckAsOfJoin, CheckLastJoin, CheckLastJoinOrder, DistributeLastJoin, KeepMatchCondition, OptimizeLastJoin, PlanAsOfJoin, PlanLastJoin, ResolveLastJoinAsOf, ResolveLastJoinOrder}
import io.github.sparkjoinery.lastjoin.{LastJoinStrategy, ShareRightSide, SplitSkewedLastJoin}
import io.github.sparkjoinery.parser.JoineryParser
import io.github.sparkjoinery.planning.ExplainReportRule
import io.github.sparkjoinery.window.{ResolveSkewWindow, SlidingWindowStrategy, SplitSkewedWindow}

/**
 * Joinery's entry point: `spark.sql.extensions=io.github.sparkjoinery.JoineryExtensions`.
 *
 * What runs when, for a query with a LAST JOIN:
 *  1. parser: [[JoineryParser]] reads the syntax; the join becomes Spark's own LEFT OUTER `Join` whose
 *     right child is a `LastJoinRight` that holds the ORDER BY terms;
 *  1. analyzer, resolution: [[ResolveLastJoinOrder]] does the same for the DataFrame form, and
 *     [[ResolveLastJoinAsOf]] writes its point-in-time condition. Everything Spark does to an ordinary join (USING,
 *     hints, self-join deduplication, coercion) works unchanged;
 *  1. analyzer, post-hoc and check: [[CheckLastJoinOrder]] and [[CheckLastJoin]] refuse what LAST JOIN cannot mean;
 *  1. plan normalization, after the analyzer and before the optimizer: [[PlanLastJoin]] turns the pair into
 *     the logical `LastJoin`, because a filter above a LEFT OUTER `Join` would make it an inner join;
 *  1. optimizer: [[OptimizeLastJoin]]; then, once filters are where they belong, [[DistributeLastJoin]];
 *  1. planner: [[LastJoinStrategy]] chooses `BroadcastLastJoin`, `ShuffledHashLastJoin` or `SortMergeLastJoin`, again
 *     on each re-plan of adaptive execution;
 *  1. adaptive execution, both sides shuffled: [[SplitSkewedLastJoin]] has several tasks read a skewed partition;
 *  1. before code generation: [[CodegenBoundaries]] keeps both sides of a shuffled join in stages of their own;
 *  1. physical plan: [[ExplainReportRule]] adds the reasons to EXPLAIN, when asked to.
 *
 * ASOF JOIN goes the same way: parsed into a `Join` whose right child is an `AsOfRight`, kept complete by [[KeepMatchCondition]],
 * checked by [[CheckAsOfJoin]], and made a `LastJoin` by [[PlanAsOfJoin]], as is Spark's own `AsOfJoin`.
 *
 * An ordinary join is Spark's; with `spark.joinery.store`, [[ApplyBloomFilters]] drops rows of a side before the join does.
 */
class JoineryExtensions extends (SparkSessionExtensions => Unit) {

  override def apply(extensions: SparkSessionExtensions): Unit = {
    JoineryConf.register() // or SET would take any value until the first query

    // parser
    extensions.injectParser((_, delegate) => new JoineryParser(delegate))
    extensions.injectFunction(JoineryVersion.function)
    extensions.injectFunction(LastJoinOrder.function)
    extensions.injectFunction(LastJoinAsOf.function)

    // analyzer
    extensions.injectResolutionRule(_ => ResolveLastJoinOrder)
    extensions.injectResolutionRule(_ => KeepMatchCondition)
    extensions.injectResolutionRule(_ => ResolveLastJoinAsOf)
    extensions.injectResolutionRule(_ => ResolveSkewWindow)
    extensions.injectPostHocResolutionRule(_ => CheckLastJoinOrder)
    extensions.injectPostHocResolutionRule(_ => CheckAsOfJoin)
    extensions.injectCheckRule(_ => CheckLastJoin)
    extensions.injectPlanNormalizationRule(_ => PlanLastJoin)
    extensions.injectPlanNormalizationRule(_ => PlanAsOfJoin)

    // optimizer and planner
    extensions.injectOptimizerRule(_ => OptimizeLastJoin)
    extensions.injectPreCBORule(_ => DistributeLastJoin)
    extensions.injectPreCBORule(_ => ApplyBloomFilters)
    extensions.injectPlannerStrategy(_ => LastJoinStrategy)
    extensions.injectPlannerStrategy(_ => SlidingWindowStrategy)
    extensions.injectQueryPostPlannerStrategyRule(_ => ExplainReportRule)
    extensions.injectQueryStagePrepRule(_ => ShareRightSide)
    extensions.injectQueryStagePrepRule(_ => SplitSkewedLastJoin)
    extensions.injectQueryStagePrepRule(_ => SplitSkewedWindow)
    extensions.injectColumnar(_ => CodegenBoundaries)
    extensions.injectColumnar(_ => ExplainReportRule.WithoutAdaptiveExecution)
  }
}
