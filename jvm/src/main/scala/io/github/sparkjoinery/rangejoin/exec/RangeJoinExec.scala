package io.github.sparkjoinery.rangejoin.exec

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.optimizer.{BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.BaseJoinExec
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

import io.github.sparkjoinery.execution.MultipliesRows
import io.github.sparkjoinery.planning.explain.ReportedOperator
import io.github.sparkjoinery.rangejoin.logical.RangeTerms
import io.github.sparkjoinery.rangejoin.runtime.RangeJoin

/** The physical range joins' common part: terms, metrics and descriptions for EXPLAIN. */
trait RangeJoinExec extends BaseJoinExec with ReportedOperator with MultipliesRows {

  def indexedSide: BuildSide
  def terms: RangeTerms
  def joinType: JoinType

  override def reportedAs: String = "join"
  override def usualReason: String = "a condition with a range"

  protected def indexed: SparkPlan = if (indexedSide == BuildRight) right else left
  def streamedSide: SparkPlan = if (indexedSide == BuildRight) left else right

  protected def searchMetrics: Map[String, SQLMetric] = Map(
    RangeJoin.OutputRows -> SQLMetrics.createMetric(sparkContext, "number of output rows"),
    "indexRows" -> SQLMetrics.createMetric(sparkContext, "index rows"),
    "indexSize" -> SQLMetrics.createSizeMetric(sparkContext, "index size"),
    "indexTime" -> SQLMetrics.createTimingMetric(sparkContext, "time to build the index"),
    "probes" -> SQLMetrics.createMetric(sparkContext, "probes"),
    "candidates" -> SQLMetrics.createMetric(sparkContext, "candidates"),
    "indexParts" -> SQLMetrics.createMetric(sparkContext, "index parts"),
    "tasksInParts" -> SQLMetrics.createMetric(sparkContext, "tasks with several index parts"),
    "spillSize" -> SQLMetrics.createSizeMetric(sparkContext, "spill size")
  )

  /** The description of the join that is sent to the executors. */
  private[rangejoin] def rangeJoin: RangeJoin =
    RangeJoin(joinType, indexedSide, terms, streamedSide.output, indexed.output, output, metrics)

  /** The arguments that EXPLAIN shows. */
  protected def shownTerms: Iterator[Any] = Iterator(
    joinType,
    s"$indexedSide indexed",
    terms.streamedKeys,
    terms.indexedKeys,
    terms.boundsSql.mkString("[", ", ", "]"),
    terms.residual)

  /** The text for EXPLAIN FORMATTED. Spark's own text would hide keys and bounds. */
  protected def describe: String = {
    def list(terms: Seq[Expression]): String = terms.map(_.sql).mkString("[", ", ", "]")
    val side = if (indexedSide == BuildRight) "right" else "left"
    s"""
       |$formattedNodeName
       |Join type: $joinType
       |Indexed side: $side, ${if (terms.hasIntervals) "intervals" else "points"}
       |Streamed keys: ${list(terms.streamedKeys)}
       |Indexed keys: ${list(terms.indexedKeys)}
       |Bounds: ${terms.boundsSql.mkString("[", ", ", "]")}
       |Residual condition: ${terms.residual.map(_.sql).getOrElse("None")}
       |""".stripMargin
  }
}
