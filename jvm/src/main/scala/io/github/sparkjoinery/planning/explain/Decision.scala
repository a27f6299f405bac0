package io.github.sparkjoinery.planning.explain

import scala.annotation.tailrec
import scala.collection.immutable.ListMap

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.plans.{ExistenceJoin, LeftAnti, LeftSemi}
import org.apache.spark.sql.catalyst.trees.{TreeNode, TreeNodeTag}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.LogicalQueryStage

/**
 * Records why a capability of Joinery took a node or left it to Spark. Each capability has one line per node, stored
 * with the logical node or with an expression of it.
 */
object Decision extends Logging {
  private val Tag = TreeNodeTag[ListMap[String, String]]("joinery_decision")
  private val OfJoin = TreeNodeTag[Kept]("joinery_decision_of_join")

  /** Reasons that all copies of a node share. */
  private class Kept {
    @volatile var reasons: ListMap[String, String] = ListMap.empty
  }

  // Capabilities. Each has one reason per node, and a later reason replaces an earlier one.
  val LastJoin = "last join"
  val PartsOfTime = "parts of time"
  val RangeJoin = "range join"
  val StoredRangeIndex = "stored range index"
  val RuntimeFilter = "runtime filter"
  val BuiltFilter = "built filter"
  val Window = "window"
  val WindowParts = "window parts"

  /**
   * Records a reason for a node.
   *
   * @param capability
   *   the capability that decided
   * @param reason
   *   one line
   */
  def record(node: TreeNode[_], capability: String, reason: String): Unit = {
    val reasons = reasonsOf(node)
    if (!reasons.get(capability).contains(reason)) logInfo(s"${node.nodeName}: $reason")
    node.setTagValue(Tag, reasons.updated(capability, reason))
    keptFor(node).foreach(kept => kept.reasons = kept.reasons.updated(capability, reason))
  }

  /**
   * Stores the reasons for the join of an EXISTS or IN subquery with the subquery, too, so that they outlive the join.
   *
   * @param subquery
   *   the subquery's plan, which is the right side of the join
   */
  def keepForJoinWith(subquery: LogicalPlan): Unit =
    if (subquery.getTagValue(OfJoin).isEmpty) subquery.setTagValue(OfJoin, new Kept)

  /** Returns all reasons for an operator in one line. */
  def textOf(plan: SparkPlan): Option[String] = plan.logicalLink.flatMap(textOf(_: TreeNode[_]))

  def textOf(expression: Expression): Option[String] = textOf(expression: TreeNode[_])

  private def textOf(node: TreeNode[_]): Option[String] =
    Option(reasonsOf(node).values.mkString("; ")).filter(_.nonEmpty)

  private def reasonsOf(node: TreeNode[_]): ListMap[String, String] =
    keptFor(node).fold(ListMap.empty[String, String])(_.reasons) ++ node.getTagValue(Tag).getOrElse(ListMap.empty)

  private def keptFor(node: TreeNode[_]): Option[Kept] = node match {
    case Join(_, right, LeftSemi | LeftAnti | _: ExistenceJoin, _, _) => keptWith(right)
    case _ => None
  }

  /**
   * Finds the reasons stored with a subquery. Spark may have put a projection above it, and adaptive execution a stage
   * in its place.
   */
  @tailrec private def keptWith(plan: LogicalPlan): Option[Kept] = plan match {
    case _ if plan.getTagValue(OfJoin).isDefined => plan.getTagValue(OfJoin)
    case Project(_, child) => keptWith(child)
    case stage: LogicalQueryStage => keptWith(stage.logicalPlan)
    case _ => None
  }
}
