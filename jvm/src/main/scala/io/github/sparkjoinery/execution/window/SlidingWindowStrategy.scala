package io.github.sparkjoinery.execution.window

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.{NamedExpression, WindowExpression, WindowFunctionType}
import org.apache.spark.sql.catalyst.planning.PhysicalWindow
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Window}
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.window.WindowExec
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.explain.Decision

/**
 * Plans `SlidingWindow` for windows with a frame that Spark computes anew for each row. Functions that it cannot take stay with
 * Spark's operator below it, sorted once for both.
 */
object SlidingWindowStrategy extends SparkStrategy with Logging {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case window @ PhysicalWindow(WindowFunctionType.SQL, columns, keys, order, child) if JoineryConf.slidingWindowEnabled =>
      val reasons = columns.map(column => column -> functionsOf(column).flatMap(WindowSupport.reasonAgainst(_, order)).headOption)
      val taken = reasons.collect { case (column, None) => column }
      val refused = reasons.collect { case (_, Some(reason)) => reason }.distinct
      if (!taken.flatMap(functionsOf).exists(WindowSupport.isRecomputed)) {
        Decision.record(window, if (refused.isEmpty) "its frames only grow, which Spark's operator is made for" else refused.mkString("; "))
        Nil
      } else {
        Decision.record(window, if (refused.isEmpty) "a moving frame" else s"a moving frame; Spark's operator keeps ${refused.mkString("; ")}")
        val left = columns.filterNot(taken.contains)
        val below = if (left.isEmpty) planLater(child) else WindowExec(left, keys, order, planLater(child))
        val sliding = SlidingWindowExec(taken, keys, order, below)
        Seq(if (left.isEmpty) sliding else ProjectExec(window.output, sliding))
      }
    case _ => Nil
  }

  private def functionsOf(column: NamedExpression): Seq[WindowExpression] = column.collect { case window: WindowExpression => window }
}
