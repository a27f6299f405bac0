package io.github.sparkjoinery.execution

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/** What the physical forms of LAST JOIN share: their terms, how EXPLAIN shows them, their metrics. */
trait LastJoinExec { self: SparkPlan =>

  def terms: LastJoinTerms

  protected def leftOutput: Seq[Attribute]
  protected def rightOutput: Seq[Attribute]

  protected def commonMetrics: Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"),
    "matchedRows" -> SQLMetrics.createMetric(sparkContext, "left rows with a match"),
    "candidatesTried" -> SQLMetrics.createMetric(sparkContext, "candidates tried"))

  /** For EXPLAIN FORMATTED: without it Spark's own description would hide keys, order and condition. */
  protected def describe: String = {
    def list(expressions: Seq[Expression]): String = expressions.map(_.sql).mkString("[", ", ", "]")
    s"""
       |${formattedNodeName}
       |Left keys: ${list(terms.leftKeys)}
       |Right keys: ${list(terms.rightKeys)}
       |Order: ${list(terms.order)}
       |As of: ${terms.asOf.map(_.sql + (if (terms.strict) " (strict)" else "")).getOrElse("None")}
       |Residual condition: ${terms.residual.map(_.sql).getOrElse("None")}
       |""".stripMargin
  }

  /**
   * Task-side: joins each left row with the right row that `find` gives for it, or with NULLs.
   *
   * @param find the match of a left row, or null
   */
  protected def joinRows(leftRows: Iterator[InternalRow])(find: InternalRow => InternalRow): Iterator[InternalRow] = {
    val numOutputRows = longMetric("numOutputRows")
    val matchedRows = longMetric("matchedRows")
    val joined = new JoinedRow
    val nulls = new GenericInternalRow(rightOutput.length)
    val toUnsafe = UnsafeProjection.create(output, leftOutput ++ rightOutput.map(_.withNullability(true)))
    leftRows.map { left =>
      val right = find(left)
      numOutputRows += 1
      if (right != null) matchedRows += 1
      toUnsafe(joined(left, if (right == null) nulls else right))
    }
  }

  /** Task-side: the residual condition over a left and a right row; counts what it is asked. */
  protected def residualPredicate(): (InternalRow, InternalRow) => Boolean = {
    val candidates = longMetric("candidatesTried")
    terms.residual match {
      case None => (_, _) => { candidates += 1; true }
      case Some(condition) =>
        val predicate = Predicate.create(condition, leftOutput ++ rightOutput)
        val joined = new JoinedRow
        (left, right) => { candidates += 1; predicate.eval(joined(left, right)) }
    }
  }
}
