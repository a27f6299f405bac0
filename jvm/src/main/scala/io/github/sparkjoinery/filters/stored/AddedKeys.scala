package io.github.sparkjoinery.filters.stored

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, LogicalPlan}
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.joinery.JoineryConf
import org.apache.spark.sql.joinery.SparkSession

import io.github.sparkjoinery.artifacts.{FileSubsetIndex, Uncovered}
import io.github.sparkjoinery.expressions.HashedKey
import io.github.sparkjoinery.filters.logical.FilterCost
import io.github.sparkjoinery.filters.runtime.CollectKeys
import io.github.sparkjoinery.planning.terms.OnError

/**
 * Finds the keys that a stored filter lacks, because their files are newer. The query reads only those files, for a
 * second filter.
 */
object AddedKeys {

  // A stored filter is of use if all files have at least this many times the bytes of the new files.
  private val LeastStored = 2

  /**
   * Builds the second filter.
   *
   * @param keys
   *   the keys of the filter, over the side's relation
   * @param isSelective
   *   true if hardly any row is likely to pass the stored filter
   * @return
   *   the second filter, or the reason why the stored one cannot be used
   */
  def buildFilter(
      side: FilteringSide,
      keys: Seq[Expression],
      uncovered: Uncovered,
      isSelective: Boolean,
      session: SparkSession): Either[String, AddedFilter] = {
    val number = s"${uncovered.files.size} files of ${uncovered.bytes} bytes"
    if (!JoineryConf.runtimeFilterBuild || !uncovered.isReadByQuery) Left(uncovered.reason)
    else if (!SQLConf.get.adaptiveExecutionEnabled)
      Left(s"${uncovered.reason}, and with it $number, which are read under adaptive execution only")
    else if (uncovered.bytes * LeastStored > uncovered.allBytes)
      Left(s"${uncovered.reason}, and with it $number, more than the filter holds: refresh it")
    else if (!FilterCost.isLittle(uncovered.bytes, side.other))
      Left(s"${uncovered.reason}, and with it $number, too much to read for what is filtered: refresh it")
    else {
      val hash = HashedKey.hash(keys.flatMap(HashedKey.hashable(_)))
      val collected = CollectKeys(hash, JoineryConf.runtimeFilterMaxKeys).toAggregateExpression()
      val rows = added(side, uncovered.files, session)
      val subquery = ScalarSubquery(Aggregate(Nil, Seq(Alias(collected, "keys")()), rows))
      Right(AddedFilter(subquery, s"$number that have come since", isSelective))
    }
  }

  /** The side, reading these files only. */
  private def added(side: FilteringSide, files: Set[String], session: SparkSession): LogicalPlan = {
    val relation = side.source.files.get
    val some = side.source.leaf match {
      case leaf: LogicalRelation =>
        leaf.copy(relation = relation.copy(location = new FileSubsetIndex(relation.location, files))(session))
    }
    side.predicates.filter(isPlain).map(OnError.orElse(_, true)).reduceOption[Expression](And(_, _)).fold[LogicalPlan](
      some)(Filter(_, some))
  }

  /**
   * True if a predicate is evaluated for the second filter. Without the others, the filter has some keys too many,
   * which does no harm.
   */
  private def isPlain(predicate: Expression): Boolean =
    predicate.deterministic && !SubqueryExpression.hasSubquery(predicate) && !predicate.exists {
      case _: UserDefinedExpression => true
      case _ => false
    }
}
