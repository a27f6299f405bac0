package io.github.sparkjoinery.filters.stored

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.artifacts.{SomeFiles, Uncovered}
import io.github.sparkjoinery.filters.built.{BuiltFilter, FilterCost, KeySummary}

/**
 * The keys that a stored filter lacks, because their files have come since it was built. The query reads those files,
 * and no others, for a second filter beside it.
 */
object AddedKeys {

  // Where more has come than the filter holds, it is of little use.
  private val LeastStored = 2

  /**
   * @param keys
   *   of the filter, over the side's relation
   * @param isSelective
   *   whether hardly any row is likely to pass the stored filter
   * @return
   *   the second filter, or why the stored one cannot be used
   */
  def of(
      side: FilteringSide,
      keys: Seq[Expression],
      uncovered: Uncovered,
      isSelective: Boolean,
      session: SparkSession): Either[String, BuiltFilter] = {
    val number = s"${uncovered.files.size} files of ${uncovered.bytes} bytes"
    if (!JoineryConf.runtimeFilterBuild || !uncovered.isReadByQuery) Left(uncovered.reason)
    else if (!SQLConf.get.adaptiveExecutionEnabled)
      Left(s"${uncovered.reason}, and with it $number, which are read under adaptive execution only")
    else if (uncovered.bytes * LeastStored > uncovered.allBytes)
      Left(s"${uncovered.reason}, and with it $number, more than the filter holds: refresh it")
    else if (!FilterCost.isLittle(uncovered.bytes, side.other))
      Left(s"${uncovered.reason}, and with it $number, too much to read for what is filtered: refresh it")
    else {
      val summary = KeySummary(added(side, uncovered.files, session), keys, Nil)
      val subquery = ScalarSubquery(summary.collected(JoineryConf.runtimeFilterMaxKeys))
      Right(BuiltFilter(subquery, s"$number that have come since", isSelective))
    }
  }

  /** What the side reads of these files. */
  private def added(side: FilteringSide, files: Set[String], session: SparkSession): LogicalPlan = {
    val relation = side.source.files.get
    val some = side.source.leaf match {
      case leaf: LogicalRelation =>
        leaf.copy(relation = relation.copy(location = new SomeFiles(relation.location, files))(session))
    }
    side.predicates.filter(isPlain).reduceOption(And).fold[LogicalPlan](some)(Filter(_, some))
  }

  /** Without the others some keys too many are found, which does no harm. */
  private def isPlain(predicate: Expression): Boolean =
    predicate.deterministic && !SubqueryExpression.hasSubquery(predicate) && !predicate.exists {
      case _: UserDefinedExpression => true
      case _ => false
    }
}
