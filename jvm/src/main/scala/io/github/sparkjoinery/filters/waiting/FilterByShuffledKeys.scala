package io.github.sparkjoinery.filters.waiting

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.PushDownPredicates
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.CoalescedPartitionSpec
import org.apache.spark.sql.execution.adaptive.{AQEShuffleReadExec, LogicalQueryStage, ShuffleQueryStageExec}
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.expressions.{HashedKey, MightContain, StoredFilter}
import io.github.sparkjoinery.filters.FilteredJoin
import io.github.sparkjoinery.filters.built.{FilterCost, JoinTerms, KeySource, KeySummary}
import io.github.sparkjoinery.filters.shuffled.{ShuffledKeysExec, ShuffledSide}
import io.github.sparkjoinery.planning._

/** Drops rows of a side that has not been read yet by the keys of rows that have been shuffled for the same join. */
object FilterByShuffledKeys extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!JoineryConf.runtimeFilterBuild || !plan.exists(_.isInstanceOf[LogicalQueryStage])) plan
    else plan.transformUp {
      case join: Join => filtered(join, join.condition, Directions.of(join), FilteredJoin.isBroadcast(join))
      case join: PreservesLeft => filtered(join, join.condition, Seq(false), join.isBroadcast)
    }

  private def filtered(
      join: LogicalPlan,
      condition: Option[Expression],
      directions: Seq[Boolean],
      isBroadcast: => Boolean): LogicalPlan = {
    val Seq(left, right) = join.children
    val cost = new FilterCost
    if (System.getenv("SPIKE") != null) println(s"JOIN ${join.treeString}")
    directions.to(LazyList).flatMap { isLeft =>
      val (side, other) = if (isLeft) (left, right) else (right, left)
      if (!other.exists(_.isInstanceOf[LogicalQueryStage]) || side.isInstanceOf[LogicalQueryStage] ||
        cost.largestScan(side) < JoineryConf.runtimeFilterMinSize || isBroadcast) None
      else testOf(JoinTerms.of(condition, side, other)).map { test =>
        val below = pushed(Filter(test, side))
        if (System.getenv("SPIKE") != null) println(s"FILTERED ${below.treeString}")
        join.withNewChildren(if (isLeft) Seq(below, other) else Seq(other, below))
      }
    }.headOption.getOrElse(join)
  }

  private def testOf(terms: JoinTerms): Option[Expression] = {
    val sources = KeySource.of(terms.other, terms.keys.map(_.mine)).flatMap { source =>
      source.plan match {
        case LogicalQueryStage(_, physical) =>
          ShuffledSide.of(physical, source.keys.map(_._1)).map(side => (side, source.keys.map(_._2)))
        case _ => None
      }
    }.filter { case (side, _) => side.stage.getRuntimeStatistics.rowCount.exists(_ <= JoineryConf.runtimeFilterMaxKeys) }
    sources.sortBy { case (side, _) => side.stage.getRuntimeStatistics.rowCount.get }.headOption.flatMap {
      case (shuffled, places) =>
        val pairs = shuffled.keys.zip(places).collect { case (Some(mine), place) => (mine, terms.keys(place).theirs) }
        val hash = HashedKey.hash(pairs.flatMap(pair => HashedKey.of(pair._2)))
        if (pairs.isEmpty || isTested(terms.side, hash)) None
        else {
          val ranged = pairs.filter { case (mine, theirs) =>
            theirs.isInstanceOf[Attribute] && mine.dataType == theirs.dataType &&
            KeySummary.extremes(theirs.dataType).isDefined
          }
          keysOf(shuffled.stage, pairs.flatMap(pair => HashedKey.of(pair._1)), ranged.map(_._1)).map { row =>
            val contained = KeySummary.filterOf(row, s"${shuffled.stage.getRuntimeStatistics.rowCount.get} rows").map {
              case (_, filter) => MightContain(hash, StoredFilter(filter), pauses = true)
            }
            val bounds = ranged.zipWithIndex.flatMap { case ((_, theirs), i) =>
              if (row.isNullAt(1 + 2 * i)) Nil
              else Seq(
                GreaterThanOrEqual(theirs, Literal(row.get(1 + 2 * i, theirs.dataType), theirs.dataType)),
                LessThanOrEqual(theirs, Literal(row.get(2 + 2 * i, theirs.dataType), theirs.dataType)))
            }
            (bounds ++ contained).reduce[Expression](And(_, _))
          }
        }
    }
  }

  private def isTested(side: LogicalPlan, hash: Expression): Boolean = side.exists {
    case Filter(condition, _) => condition.exists {
        case test: MightContain => test.hash.semanticEquals(hash)
        case _ => false
      }
    case _ => false
  }

  private def keysOf(
      stage: ShuffleQueryStageExec,
      keys: Seq[Expression],
      terms: Seq[Expression]): Option[InternalRow] = {
    val rows = AQEShuffleReadExec(stage, Seq(CoalescedPartitionSpec(0, stage.shuffle.numPartitions, stage.mapStats.map(_.bytesByPartitionId.sum).orElse(Some(0L)))))
    val row = ShuffledKeysExec(HashedKey.hash(keys), terms, JoineryConf.runtimeFilterMaxKeys, rows).executeCollect()
      .head.getStruct(0, 1 + 2 * terms.length)
    if (row.isNullAt(0)) None else Some(row)
  }

  private def pushed(plan: LogicalPlan): LogicalPlan = {
    val next = PushDownPredicates(plan)
    if (next.fastEquals(plan)) plan else pushed(next)
  }
}
