package io.github.sparkjoinery.window.rules

import scala.annotation.tailrec

import org.apache.spark.SparkContext
import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.logical.statsEstimation.EstimationUtils
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.trees.TreePattern.{PLAN_EXPRESSION, UNRESOLVED_HINT, WINDOW}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.joinery.Collations
import org.apache.spark.sql.joinery.{JoineryConf, ReplacedRows}

import io.github.sparkjoinery.expressions.OrderedLong
import io.github.sparkjoinery.planning.explain.Decision
import io.github.sparkjoinery.planning.plans.{ParsedText, Repeatable}
import io.github.sparkjoinery.window.logical.program.WindowSupport
import io.github.sparkjoinery.window.logical.{CutTerms, FrameReach, SkewWindow}
import io.github.sparkjoinery.window.stored.StoredCuts

/**
 * Rewrites windows so that hot keys are computed in parts ([[WindowInParts]]). A hint SKEW_WINDOW insists. Without the
 * hint, a stored distribution must have a key that would keep one core busy while others wait. (Article 2: skewed
 * windows.)
 */
object CutHotKeys extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.containsAnyPattern(WINDOW, UNRESOLVED_HINT)) plan
    else {
      val hinted = plan.transformDownWithPruning(_.containsPattern(UNRESOLVED_HINT)) { case hint: SkewWindow =>
        withoutHints(hint)
      }
      if (JoineryConf.slidingWindowEnabled) cut(hinted) else hinted
    }

  /** Takes hints off a plan. A hint lies directly above another if Spark has dropped the window in between. */
  @tailrec
  private def withoutHints(plan: LogicalPlan): LogicalPlan = plan match {
    case SkewWindow(parts, child) =>
      windowBelow(child).foreach(_.setTagValue(Hint, parts))
      withoutHints(child)
    case other => other
  }

  private def cut(plan: LogicalPlan): LogicalPlan = {
    plan.foreach { node => markReliedOn(node); markLimited(node) }
    plan.transformUpWithPruning(_.containsPattern(WINDOW)) {
      case window: Window if !WindowInParts.isCut(window) =>
        val hint = window.getTagValue(Hint)
        if (hint.contains(1) || hint.isEmpty && !mayUseStore(window)) window
        else inParts(window, hint) match {
          case Left(reason) =>
            hint.foreach(_ => Decision.record(window, Decision.WindowParts, s"hot keys not cut: $reason"))
            window
          case Right(plan) => plan
        }
    }
  }

  private def mayUseStore(window: Window): Boolean =
    JoineryConf.windowSkewSplit && JoineryConf.store.isDefined && window.getTagValue(ReliedOn).isEmpty

  /**
   * Cuts the hot keys of a window.
   *
   * @return
   *   the new plan, or the reason why hot keys stay whole
   */
  private def inParts(window: Window, hint: Option[Int]): Either[String, LogicalPlan] =
    reasonAgainst(window).toLeft(()).flatMap { _ =>
      FrameReach.find(window.orderSpec, window.windowExpressions.flatMap(WindowInParts.functionsOf))
    }.flatMap { reach =>
      val inParts = new WindowInParts(window, reach)
      val terms = CutTerms(window.partitionSpec, window.orderSpec.head)
      val stored = if (JoineryConf.store.isEmpty) None else StoredCuts.find(window.child, terms)
      (hint, stored.filter(_.times.nonEmpty)) match {
        case _ if reach.readsTwice && !isRepeatable(window.child) =>
          Left("its rows are counted first, and may be others by then")
        case (Some(parts), Some(stored)) =>
          inParts.byStore(stored, parts, mostCopied = None).toRight("the hot keys of its distribution have one value")
        case (Some(parts), None) => Right(inParts.bySample(parts))
        case (None, Some(stored)) =>
          worthwhileParts(window.child, reach, stored).flatMap(inParts.byStore(stored, _, Some(MostCopied)))
            .toRight("it does not pay")
        case (None, None) => Left("there is no distribution of its keys")
      }
    }

  private def reasonAgainst(window: Window): Option[String] = {
    val functions = window.windowExpressions.flatMap(WindowInParts.functionsOf)
    lazy val refused = functions.flatMap(function =>
      WindowSupport.reasonAgainst(function, window.orderSpec).orElse(
        SumOverflowRewrite.reasonAgainst(function))).headOption
    if (!conf.adaptiveExecutionEnabled) Some("adaptive execution is off")
    else if (functions.isEmpty) Some("it has no functions of SQL")
    else if (window.orderSpec.isEmpty) Some("it has no ORDER BY to be cut along")
    else if (!OrderedLong.supports(window.orderSpec.head.dataType))
      Some(s"its first ORDER BY column is of type ${window.orderSpec.head.dataType.sql}")
    else if (!window.partitionSpec.forall(key => Collations.isBinaryStable(key.dataType)))
      Some("keys of this collation may be equal and have different hashes")
    else if (refused.isDefined) refused
    else if (window.partitionSpec.isEmpty && window.getTagValue(Limited).isDefined)
      Some("LIMIT takes the first rows of a window without PARTITION BY")
    else if (!isCheap(window.child)) Some("the rows would have to be computed twice, once to find the cuts")
    else None
  }

  /** True if the rows are cheap to compute twice. */
  private def isCheap(plan: LogicalPlan): Boolean =
    !plan.isStreaming && !plan.containsPattern(PLAN_EXPRESSION) && !ReplacedRows.areIn(plan) && (plan match {
      case Project(columns, child) => columns.forall(_.deterministic) && isCheap(child)
      case Filter(condition, child) => condition.deterministic && isCheap(child)
      case _: LeafNode => true
      case _ => false
    })

  private def isRepeatable(plan: LogicalPlan): Boolean = Repeatable.withinOneOperator(plan) && !ParsedText.isIn(plan)

  /**
   * The number of parts of each hot key. None if the hottest key is too small, or leaves enough work for other cores.
   */
  private def worthwhileParts(child: LogicalPlan, reach: FrameReach, stored: StoredCuts): Option[Int] = {
    val rows = stored.times.groupBy(_.id).values.map(_.map(_.weight).sum)
    val cores = SparkContext.getOrCreate().defaultParallelism
    Option(rows.max).filter(_ * 2 * cores > rows.sum).flatMap { hottest =>
      val bytes = hottest * EstimationUtils.getSizePerRow(child.output).toDouble
      val each = math.max(conf.getConf(SQLConf.ADVISORY_PARTITION_SIZE_IN_BYTES), 1L)
      val most = math.max(2, math.min(cores * 2, MostParts))
      val isLarge = bytes > JoineryConf.skewSplitMinPartition &&
        hottest > (reach.rowsBefore.toDouble + reach.rowsAfter) * LeastRowsPerHaloRow
      if (isLarge) Some(math.max(2, math.min(math.ceil(bytes / each).toInt, most))) else None
    }
  }

  private val MostParts = 32
  private val MostCopied = 0.25 // of a key's rows, unless a hint insists
  private val LeastRowsPerHaloRow = 1000 // for the hottest key and ROWS frames

  /** The number of parts that a hint asks for. */
  private val Hint = TreeNodeTag[Int]("joinery_skew_window")

  /**
   * Marks a window whose partitioning by key an operator above relies on. If hot keys were cut, that operator would
   * have to shuffle the rows again.
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
   * Marks a window if a LIMIT takes only its first rows. Without PARTITION BY, Spark emits rows in the window's order,
   * but parts come in no order.
   */
  private val Limited = TreeNodeTag[Unit]("joinery_window_limited")

  private def markLimited(plan: LogicalPlan): Unit = {
    def mark(below: LogicalPlan): Unit = below match {
      case window: Window => window.setTagValue(Limited, ())
      case _: GlobalLimit | _: LocalLimit | _: Offset | _: Project | _: Filter | _: Generate | _: Join | _: Union =>
        below.children.foreach(mark)
      case _ =>
    }
    plan match {
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
}
