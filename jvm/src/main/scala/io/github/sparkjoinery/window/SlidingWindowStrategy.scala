package io.github.sparkjoinery.window

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.{Expression, NamedExpression, WindowExpression, WindowFunctionType}
import org.apache.spark.sql.catalyst.planning.{ExtractEquiJoinKeys, PhysicalWindow}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.trees.TreePattern.WINDOW
import org.apache.spark.sql.execution.adaptive.{LogicalQueryStage, ShuffleQueryStageExec}
import org.apache.spark.sql.execution.window.WindowExec
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan, SparkStrategy}
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.execution.skew.Skew
import io.github.sparkjoinery.planning.Decision
import io.github.sparkjoinery.window.parts.{CutAtWrite, SplitTerms, WindowPartsExec}
import io.github.sparkjoinery.window.program.WindowSupport

/**
 * Plans `SlidingWindow` for windows with a frame that Spark's operator computes from scratch for each row. It also
 * plans it for windows whose hot keys are to be split, because of a hint, a stored distribution or a skewed shuffle.
 * Functions that `SlidingWindow` cannot compute stay with Spark's operator. It is below, and both share one sort.
 */
object SlidingWindowStrategy extends SparkStrategy with Logging {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = {
    if (plan.containsPattern(WINDOW)) {
      markReliedOn(plan)
      markLimited(plan)
    }
    planWindow(plan)
  }

  private def planWindow(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case SkewWindow(parts, child) =>
      windowBelow(child).foreach(_.setTagValue(Parts, parts))
      Seq(planLater(child))
    case window @ PhysicalWindow(WindowFunctionType.SQL, all, keys, order, child) if JoineryConf.slidingWindowEnabled =>
      // Columns without a window function come from Spark's rewrite of a subquery.
      val columns = all.filter(functionsOf(_).nonEmpty)
      val hint = window.getTagValue(Parts)
      val readInOrder = keys.isEmpty && window.getTagValue(Limited).isDefined
      val parts = if (readInOrder) Some(1) else hint
      val reasons =
        columns.map(column => column -> functionsOf(column).flatMap(WindowSupport.reasonAgainst(_, order)).headOption)
      val taken = reasons.collect { case (column, None) => column }
      val refused = reasons.collect { case (_, Some(reason)) => reason }.distinct
      val isMoving = taken.flatMap(functionsOf).exists(WindowSupport.isRecomputed)
      val split =
        if (refused.nonEmpty) Left(refused.mkString("; "))
        else if (readInOrder) Left("LIMIT takes the first rows of a window without PARTITION BY")
        else SplitTerms.of(keys, order, taken.flatMap(functionsOf))
      val cut = split.toOption.flatMap(CutAtWrite.of(
        child,
        _,
        parts,
        onRequestOnly = window.getTagValue(ReliedOn).isDefined,
        maySample = isMoving))
      val why =
        if (isMoving) Some("a moving frame")
        else if (split.isRight && parts.exists(_ > 1)) Some("hint SKEW_WINDOW")
        else if (cut.isDefined) Some("a distribution of its keys")
        else if (split.isRight && isSkewed(child, parts)) Some("its input is skewed")
        else None
      val notSplit = split.left.toOption.filter(_ => hint.exists(_ > 1)).map(reason => s"not split: $reason")
      val notBefore = split.toOption.filter(_ => parts.exists(_ > 1)).flatMap(CutAtWrite.reasonAgainst(child, _))
        .map(reason => s"hot keys not cut before the shuffle: $reason")
      val keeps = Option.when(refused.nonEmpty)(s"Spark's operator keeps ${refused.mkString("; ")}")
      Decision.record(
        window,
        Decision.Window,
        why match {
          case Some(why) =>
            (Seq(why) ++ cut.map(cut => s"hot keys $cut") ++ notBefore ++ keeps ++ notSplit).mkString("; ")
          case None if refused.nonEmpty => refused.mkString("; ")
          case None => (Seq("its frames only grow, which Spark's operator is made for") ++ notSplit).mkString("; ")
        }
      )
      if (why.isEmpty) Nil
      else {
        val left = columns.filterNot(taken.contains)
        val below = if (left.isEmpty) planLater(child) else WindowExec(left, keys, order, planLater(child))
        val sliding = SlidingWindowExec(taken, keys, order, cut.fold(below)(WindowPartsExec(_, below)), parts, cut)
        val output = child.output ++ all.map(column => if (columns.contains(column)) column.toAttribute else column)
        Seq(if (left.isEmpty && cut.isEmpty && columns == all) sliding else ProjectExec(output, sliding))
      }
    case _ => Nil
  }

  /** The parts that a hint asks for. The tag is used only within one planning, because rules copy nodes. */
  private val Parts = TreeNodeTag[Int]("joinery_skew_window")

  /**
   * Tags a window whose output distribution an operator above needs. If the window were cut, that operator would
   * shuffle the rows again.
   */
  private val ReliedOn = TreeNodeTag[Unit]("joinery_window_relied_on")

  private def markReliedOn(plan: LogicalPlan): Unit = {
    def mark(child: LogicalPlan, keys: Seq[Expression]): Unit = windowBelow(child).foreach { window =>
      if (window.partitionSpec.forall(key => keys.exists(_.semanticEquals(key)))) window.setTagValue(ReliedOn, ())
    }
    plan match {
      case window: Window => mark(window.child, window.partitionSpec)
      case aggregate: Aggregate => mark(aggregate.child, aggregate.groupingExpressions)
      case ExtractEquiJoinKeys(_, leftKeys, rightKeys, _, _, left, right, _) =>
        mark(left, leftKeys)
        mark(right, rightKeys)
      case _ =>
    }
  }

  /**
   * Tags a window whose first rows are enough for a LIMIT. Without PARTITION BY, Spark's operator returns rows in the
   * window's order and computes no later row. Parts of the window come in no order, and an error of a late row would
   * fail the query.
   */
  private val Limited = TreeNodeTag[Unit]("joinery_window_limited")

  private def markLimited(plan: LogicalPlan): Unit = {
    def mark(below: LogicalPlan): Unit = below match {
      case window: Window => window.setTagValue(Limited, ())
      case _: GlobalLimit | _: LocalLimit | _: Offset | _: Project | _: Filter | _: Generate | _: Join | _: Union |
          _: SkewWindow => below.children.foreach(mark)
      case _ =>
    }
    plan match {
      case ReturnAnswer(answer) => markLimited(answer)
      case _: GlobalLimit | _: LocalLimit => mark(plan)
      case _ =>
    }
  }

  private def windowBelow(plan: LogicalPlan): Option[Window] = plan match {
    case window: Window => Some(window)
    case Project(_, child) => windowBelow(child)
    case Filter(_, child) => windowBelow(child)
    case _ => None
  }

  private def isSkewed(child: LogicalPlan, parts: Option[Int]): Boolean = child match {
    case LogicalQueryStage(_, stage: ShuffleQueryStageExec) if Skew.isKnown(stage) =>
      SplitSkewedWindow.partsOf(stage, parts).exists(_ > 1)
    case _ => false
  }

  private def functionsOf(column: NamedExpression): Seq[WindowExpression] =
    column.collect { case window: WindowExpression => window }
}
