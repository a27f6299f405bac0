package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.JoinSelectionHelper
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.catalyst.trees.TreePattern.TreePattern

import io.github.sparkjoinery.planning.PreservesLeft

/**
 * `left LAST JOIN right ORDER BY order ON condition`: each left row exactly once, beside the last right row that passes
 * the whole condition, or NULLs. Introduced by OpenMLDB; see docs/reference/last-join.md.
 *
 * Only its left side decides how many rows there are and which constraints hold; ColumnPruning and friends treat it
 * like any binary node.
 *
 * @param order
 *   terms over the right side; the last row in this order wins. Empty: any match
 * @param condition
 *   boolean expression over both sides; None: every right row passes
 * @param hint
 *   join hints the user gave for either side
 */
case class LastJoin(
    left: LogicalPlan,
    right: LogicalPlan,
    order: Seq[SortOrder],
    condition: Option[Expression],
    hint: JoinHint) extends BinaryNode with PreservesLeft with JoinSelectionHelper {

  override val nodePatterns: Seq[TreePattern] = Seq(LastJoin.Pattern)

  override def output: Seq[Attribute] = left.output ++ right.output.map(_.withNullability(true))

  override lazy val resolved: Boolean =
    childrenResolved && expressions.forall(_.resolved) && left.outputSet.intersect(right.outputSet).isEmpty

  override def maxRows: Option[Long] = left.maxRows

  override protected lazy val validConstraints: ExpressionSet = left.constraints

  /** As many rows as the left side has, each as much wider as the right side's rows are. */
  override def stats: Statistics = {
    val leftStats = left.stats
    val leftWidth = LastJoin.rowWidth(left.output)
    val width = leftWidth + LastJoin.rowWidth(right.output)
    Statistics(
      sizeInBytes = (leftStats.sizeInBytes * width / leftWidth).max(1),
      rowCount = leftStats.rowCount)
  }

  override def isBroadcast: Boolean =
    hint.rightHint.flatMap(_.strategy).contains(BROADCAST) || canBroadcastBySize(right, conf)

  override protected def stringArgs: Iterator[Any] = Iterator(order, condition) ++ hintString

  private def hintString: Iterator[String] = Iterator(hint).filterNot(_ == JoinHint.NONE).map(_.toString)

  override protected def withNewChildrenInternal(newLeft: LogicalPlan, newRight: LogicalPlan): LastJoin =
    copy(left = newLeft, right = newRight)
}

object LastJoin {

  /**
   * Lets our rules pass by plans without LAST JOIN at the cost of one look at a bit. Spark's list of patterns is
   * closed, so this is the one of its closest relative, whose own rules then look at the node's class.
   */
  val Pattern: TreePattern = TreePattern.AS_OF_JOIN

  /** Bytes of a row by the default sizes of its types, as Spark's own estimates take them. */
  private def rowWidth(output: Seq[Attribute]): BigInt = BigInt(8) + output.map(a => BigInt(a.dataType.defaultSize)).sum
}
