package io.github.sparkjoinery

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.joinery.{EarlyRules, InnermostParser, JoineryConf, PrunePartitions}

import io.github.sparkjoinery.execution.{BufferShuffles, InsertCodegenBoundaries, ShuffleWidth}
import io.github.sparkjoinery.filters.rules._
import io.github.sparkjoinery.filters.stored.ApplyBloomFilters
import io.github.sparkjoinery.lastjoin.logical.{LastJoinAsOf, LastJoinOrder}
import io.github.sparkjoinery.lastjoin.rules._
import io.github.sparkjoinery.parser.JoineryParser
import io.github.sparkjoinery.planning.explain.ExplainReport
import io.github.sparkjoinery.planning.plans.ApplyToSubqueryJoins
import io.github.sparkjoinery.rangejoin.rules.{
  DistributeRangeJoin,
  RangeJoinStrategy,
  ResolveRangeJoinHint,
  SplitSkewedRangeJoin,
  UseStoredRangeIndex
}
import io.github.sparkjoinery.window.logical.SkewWindow
import io.github.sparkjoinery.window.rules.{CutHotKeys, ResolveSkewWindow, SlidingWindowStrategy}

/**
 * Registers all of Joinery with a session. The entry point, `JoineryExtensions`, is written in Java and calls this
 * object by its name.
 *
 * The order for a query with a LAST JOIN:
 *   1. parser: [[JoineryParser]] reads the syntax. The join becomes Spark's own LEFT OUTER `Join` with a
 *      `LastJoinRight` as its right child, which holds the ORDER BY terms.
 *   1. analyzer, resolution: [[ResolveLastJoinOrder]] marks the right child of the DataFrame form, and
 *      [[ResolveLastJoinAsOf]] adds its point-in-time condition. Spark treats the join as an ordinary one: USING,
 *      hints, self-join deduplication and coercion work unchanged.
 *   1. analyzer, post-hoc and check: [[CheckLastJoinOrder]] and [[CheckLastJoin]] reject joins that have no meaning.
 *   1. plan normalization, between analyzer and optimizer: [[PlanLastJoin]] turns the `Join` into a logical `LastJoin`.
 *      A filter above would make the LEFT OUTER `Join` an inner join in the optimizer. Before that, the rule moves
 *      projections of hidden columns above the join, and decorrelates the left side and ON.
 *   1. optimizer: [[OptimizeLastJoin]], and Spark's rewrites of a LEFT JOIN in [[PushBelowLastJoin]] and
 *      [[NestedFieldsOfLastJoin]]. After Spark has pushed filters down, [[InferFiltersOfLastJoin]] and
 *      [[DistributeLastJoin]] run.
 *   1. optimizer and adaptive execution: [[RemoveEmptySides]] removes a join with an empty side.
 *   1. planner: [[LastJoinStrategy]] chooses `BroadcastLastJoin`, `ShuffledHashLastJoin` or `SortMergeLastJoin`, again
 *      on each re-plan of adaptive execution.
 *   1. adaptive execution: [[ShareRightShuffle]] makes sure that a right side that is measured first runs once.
 *   1. adaptive execution, both sides shuffled: [[SplitSkewedLastJoin]] lets several tasks read a skewed partition.
 *   1. before code generation: [[InsertCodegenBoundaries]] keeps both sides of a shuffled join in separate stages.
 *   1. EXPLAIN: [[ExplainReport]] shows the reasons below the plan, if they are switched on.
 *
 * ASOF JOIN takes the same way. The parser makes it a `Join` with an `AsOfRight` as its right child.
 * [[KeepMatchCondition]] keeps its condition while Spark resolves USING, [[CheckAsOfJoin]] checks it, and
 * [[PlanAsOfJoin]] makes it a `LastJoin`. [[PlanAsOfJoin]] also rewrites Spark's own `AsOfJoin`.
 *
 * The order for a range join:
 *   1. analyzer, resolution: [[ResolveRangeJoinHint]] reads the hint `RANGE_JOIN`.
 *   1. optimizer: [[UseStoredRangeIndex]] finds an index in the artifact store. [[DistributeRangeJoin]] cuts a join
 *      into parts that has no equality and no small side. Both rules also see the joins of EXISTS and IN
 *      ([[ApplyToSubqueryJoins]]).
 *   1. planner: [[RangeJoinStrategy]] chooses `BroadcastRangeJoin` or `ShuffledRangeJoin`, or records why Spark keeps
 *      the join. It runs again on each re-plan of adaptive execution.
 *   1. adaptive execution, both sides shuffled: [[SplitSkewedRangeJoin]] lets several tasks read a skewed partition.
 *
 * The order for a query with a window:
 *   1. analyzer, resolution: [[ResolveSkewWindow]] reads the hint `SKEW_WINDOW` and puts it above each window of its
 *      SELECT.
 *   1. optimizer: [[SkewWindow.OutOfTheWay]] moves hints above filters. Then [[CutHotKeys]] rewrites windows so that
 *      hot keys are computed in parts.
 *   1. planner: [[SlidingWindowStrategy]] chooses `SlidingWindow`.
 *
 * Runtime filters drop rows that match nothing before a join shuffles them:
 *   1. analyzer, resolution: [[ResolveRuntimeFilterHint]] reads the hint `RUNTIME_FILTER`.
 *   1. optimizer: [[ApplyBloomFilters]] uses filters of `spark.joinery.store`.
 *   1. planner: [[RuntimeFilterStrategy]] removes filters that Spark's own rule has added on the same keys.
 *   1. adaptive execution: [[WaitForKeys]] lets the large side of a join wait for the shuffle of the small side.
 *   1. adaptive execution, the small side shuffled: [[FilterByShuffledKeys]] filters the large side by its keys.
 *   1. adaptive execution, both sides shuffled: [[FilterShuffledRows]] filters one side by the keys of the other, if
 *      these are few, before the sort.
 *
 * [[ShuffleWidth]] gives shuffles as many partitions as their bytes need, in adaptive plans with an operator of
 * Joinery. [[BufferShuffles]] lets the rows of the same shuffles pass through buffers.
 *
 * The body has a section per capability, with its rules in the order in which they run.
 */
object Capabilities {

  private val lastJoins = new Capability("LAST JOINs")
  private val rangeJoins = new Capability("range joins")
  private val windows = new Capability("windows")
  private val filters = new Capability("runtime filters")
  private val plans = new Capability("rules for shuffles and EXPLAIN")

  def inject(extensions: SparkSessionExtensions): Unit = {
    JoineryConf.register() // else SET would accept any value until the first query
    extensions.injectFunction(JoineryVersion.function)
    InnermostParser.inject(extensions, new JoineryParser)

    // LAST JOIN and ASOF JOIN
    extensions.injectFunction(LastJoinOrder.function)
    extensions.injectFunction(LastJoinAsOf.function)
    EarlyRules.inject(extensions)(lastJoins.rule(RefuseTimeWindows))
    extensions.injectResolutionRule(_ => lastJoins.rule(ResolveLastJoinOrder))
    extensions.injectResolutionRule(_ => lastJoins.rule(KeepMatchCondition))
    extensions.injectResolutionRule(_ => lastJoins.rule(ResolveLastJoinAsOf))
    extensions.injectPostHocResolutionRule(_ => lastJoins.rule(CheckLastJoinOrder))
    extensions.injectPostHocResolutionRule(_ => lastJoins.rule(CheckAsOfJoin))
    extensions.injectCheckRule(_ => CheckLastJoin)
    extensions.injectPlanNormalizationRule(_ => lastJoins.rule(PlanLastJoin))
    extensions.injectPlanNormalizationRule(_ => lastJoins.rule(PlanAsOfJoin))
    extensions.injectOptimizerRule(_ => lastJoins.rule(OptimizeLastJoin))
    extensions.injectOptimizerRule(_ => lastJoins.rule(PushBelowLastJoin))
    extensions.injectOptimizerRule(_ => lastJoins.rule(NestedFieldsOfLastJoin))
    extensions.injectPreCBORule(_ => lastJoins.rule(InferFiltersOfLastJoin))
    extensions.injectPreCBORule(_ => lastJoins.rule(DistributeLastJoin))
    extensions.injectRuntimeOptimizerRule(_ => lastJoins.rule(RemoveEmptySides))
    extensions.injectPlannerStrategy(_ => lastJoins.strategy(LastJoinStrategy))
    extensions.injectQueryStagePrepRule(_ => lastJoins.rule(ShareRightShuffle))
    extensions.injectQueryStagePrepRule(_ => lastJoins.rule(SplitSkewedLastJoin))

    // range joins
    extensions.injectResolutionRule(_ => rangeJoins.rule(ResolveRangeJoinHint))
    extensions.injectPreCBORule(_ =>
      rangeJoins.rule(ApplyToSubqueryJoins(UseStoredRangeIndex, DistributeRangeJoin.concerns)))
    extensions.injectPreCBORule(_ =>
      rangeJoins.rule(ApplyToSubqueryJoins(DistributeRangeJoin, DistributeRangeJoin.concerns)))
    extensions.injectPlannerStrategy(_ => rangeJoins.strategy(RangeJoinStrategy))
    extensions.injectQueryStagePrepRule(_ => rangeJoins.rule(SplitSkewedRangeJoin))

    // windows
    extensions.injectResolutionRule(_ => windows.rule(ResolveSkewWindow))
    extensions.injectOptimizerRule(_ => windows.rule(SkewWindow.OutOfTheWay))
    extensions.injectPreCBORule(_ => windows.rule(CutHotKeys))
    extensions.injectPlannerStrategy(_ => windows.strategy(SlidingWindowStrategy))

    // filters
    extensions.injectResolutionRule(_ => filters.rule(ResolveRuntimeFilterHint))
    extensions.injectPreCBORule(_ => filters.rule(PrunePartitions))
    extensions.injectPreCBORule(_ => filters.rule(ApplyBloomFilters))
    extensions.injectPlannerStrategy(_ => filters.strategy(RuntimeFilterStrategy))
    extensions.injectRuntimeOptimizerRule(_ => filters.rule(FilterByShuffledKeys))
    extensions.injectQueryStagePrepRule(_ => filters.rule(WaitForKeys))
    extensions.injectQueryStageOptimizerRule(_ => filters.rule(FilterShuffledRows))

    // independent of the operators
    extensions.injectQueryStagePrepRule(_ => plans.rule(ShuffleWidth))
    extensions.injectQueryStagePrepRule(_ => plans.rule(BufferShuffles))
    extensions.injectColumnar(_ => InsertCodegenBoundaries)
    extensions.injectPreCBORule(_ => plans.rule(ExplainReport.Show))
  }
}
