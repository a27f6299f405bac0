package io.github.sparkjoinery.lastjoin.exec

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.{CodegenSupport, SparkPlan}

import io.github.sparkjoinery.execution.MatchedColumns
import io.github.sparkjoinery.lastjoin.logical.LastJoinTerms
import io.github.sparkjoinery.lastjoin.runtime.LastJoinOutput
import io.github.sparkjoinery.planning.explain.ReportedOperator

/** Base of the physical LAST JOINs: their terms, their text in EXPLAIN, their metrics and their output. */
trait LastJoinExec extends CodegenSupport with ReportedOperator {

  def left: SparkPlan
  def right: SparkPlan
  def terms: LastJoinTerms

  override def reportedAs: String = "join"
  override def usualReason: String = "LAST JOIN"

  /** The arguments that EXPLAIN shows. */
  protected def shownTerms: Iterator[Any] =
    Iterator(terms.leftKeys, terms.rightKeys, terms.order, terms.asOf, terms.within, terms.residual)

  protected def commonMetrics: Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"),
    "matchedRows" -> SQLMetrics.createMetric(sparkContext, "left rows with a match"),
    "candidatesTried" -> SQLMetrics.createMetric(sparkContext, "candidates tried")
  )

  /** Text for EXPLAIN FORMATTED. Spark's own text would not show keys, order and condition. */
  protected def describe: String = {
    def list(expressions: Seq[Expression]): String = expressions.map(_.sql).mkString("[", ", ", "]")
    val asOf = for (l <- terms.asOf; r <- terms.asOfTerm) yield {
      val comparison = if (terms.descending) ">" else "<"
      s"${r.sql} $comparison${if (terms.strict) "" else "="} ${l.sql}"
    }
    s"""
       |${formattedNodeName}
       |Left keys: ${list(terms.leftKeys)}
       |Right keys: ${list(terms.rightKeys)}
       |Order: ${list(terms.order)}
       |As of: ${asOf.getOrElse("None")}
       |Within: ${terms.within.map(_.sql).getOrElse("None")}
       |Residual condition: ${terms.residual.map(_.sql).getOrElse("None")}
       |""".stripMargin
  }

  /** Joins the rows of a task if no code is generated. */
  protected def joinedRows: LastJoinOutput = LastJoinOutput(output, left.output, right.output, metrics)

  /**
   * Generated code that emits a left row with its match.
   *
   * @param matched
   *   name of the variable that holds the match or null
   */
  protected def consumeMatch(ctx: CodegenContext, leftVars: Seq[ExprCode], matched: String): String = {
    val rightVars = MatchedColumns.orNulls(ctx, matched, right.output)
    s"""
       |${metricTerm(ctx, "numOutputRows")}.add(1);
       |if ($matched != null) ${metricTerm(ctx, "matchedRows")}.add(1);
       |${consume(ctx, leftVars ++ rightVars)}
       |""".stripMargin
  }
}
