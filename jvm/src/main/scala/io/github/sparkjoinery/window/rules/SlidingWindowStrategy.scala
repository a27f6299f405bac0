package io.github.sparkjoinery.window.rules

import org.apache.spark.sql.catalyst.expressions.WindowFunctionType
import org.apache.spark.sql.catalyst.planning.PhysicalWindow
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.window.WindowExec
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan, SparkStrategy}
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.planning.explain.Decision
import io.github.sparkjoinery.window.exec.{CopyRowsExec, SlidingWindowExec}
import io.github.sparkjoinery.window.logical.CopyRows
import io.github.sparkjoinery.window.logical.program.WindowSupport
import io.github.sparkjoinery.window.rules.WindowInParts.functionsOf

/**
 * Plans `SlidingWindow` for windows with a frame that Spark's operator computes from scratch for each row. Functions
 * that `SlidingWindow` cannot compute stay with Spark's operator. It is below, and both share one sort. Plans
 * [[CopyRows]], too.
 */
object SlidingWindowStrategy extends SparkStrategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case window @ PhysicalWindow(WindowFunctionType.SQL, all, keys, order, child) if JoineryConf.slidingWindowEnabled =>
      // Columns without a window function come from Spark's rewrite of a subquery.
      val columns = all.filter(functionsOf(_).nonEmpty)
      val reasons =
        columns.map(column => column -> functionsOf(column).flatMap(WindowSupport.reasonAgainst(_, order)).headOption)
      val taken = reasons.collect { case (column, None) => column }
      val refused = reasons.collect { case (_, Some(reason)) => reason }.distinct.mkString("; ")
      val isMoving = taken.flatMap(functionsOf).exists(WindowSupport.isRecomputed)
      Decision.record(
        window,
        Decision.Window,
        if (isMoving && refused.isEmpty) "a moving frame"
        else if (isMoving) s"a moving frame; Spark's operator keeps $refused"
        else if (refused.nonEmpty) refused
        else "its frames only grow, which Spark's operator is made for"
      )
      if (!isMoving) Nil
      else {
        val left = columns.filterNot(taken.contains)
        val below = if (left.isEmpty) planLater(child) else WindowExec(left, keys, order, planLater(child))
        val sliding = SlidingWindowExec(taken, keys, order, below)
        val output = child.output ++ all.map(column => if (columns.contains(column)) column.toAttribute else column)
        Seq(if (left.isEmpty && columns == all) sliding else ProjectExec(output, sliding))
      }
    case copies: CopyRows => Seq(CopyRowsExec.plan(copies, planLater(copies.child)))
    case _ => Nil
  }
}
