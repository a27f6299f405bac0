package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.JoinSelectionHelper
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.catalyst.trees.TreePattern.TreePattern

import io.github.sparkjoinery.planning.plans.LeftOuterLike

/**
 * `left LAST JOIN right ORDER BY order ON condition`: returns each left row once, with the last right row that passes
 * the whole condition, or with NULLs. OpenMLDB introduced it; see docs/reference/last-join.md.
 *
 * The number of rows and the constraints depend on the left side only. ColumnPruning and similar rules treat the node
 * like any binary node.
 *
 * @param order
 *   terms over the right side; the last row in this order is the match. Empty: any matching row
 * @param condition
 *   boolean expression over both sides; None: every right row passes
 * @param hint
 *   the user's join hints for either side
 */
case class LastJoin(
    left: LogicalPlan,
    right: LogicalPlan,
    order: Seq[SortOrder],
    condition: Option[Expression],
    hint: JoinHint) extends BinaryNode with LeftOuterLike with JoinSelectionHelper {

  override val nodePatterns: Seq[TreePattern] = Seq(LastJoin.Pattern)

  override def output: Seq[Attribute] = left.output ++ right.output.map(_.withNullability(true))

  override lazy val resolved: Boolean =
    childrenResolved && expressions.forall(_.resolved) && left.outputSet.intersect(right.outputSet).isEmpty

  override def maxRows: Option[Long] = left.maxRows

  override protected lazy val validConstraints: ExpressionSet = left.constraints

  /** Estimates as many rows as the left side has, wider by the width of a right row. */
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
   * Lets our rules skip plans without LAST JOIN by testing one bit. Spark's list of patterns is closed, so this is the
   * pattern of the closest relative, `AsOfJoin`. Spark's rules for that pattern then test the node's class.
   */
  val Pattern: TreePattern = TreePattern.AS_OF_JOIN

  /** Bytes of a row by the default sizes of its types, as in Spark's own estimates. */
  private def rowWidth(output: Seq[Attribute]): BigInt = BigInt(8) + output.map(a => BigInt(a.dataType.defaultSize)).sum
}
