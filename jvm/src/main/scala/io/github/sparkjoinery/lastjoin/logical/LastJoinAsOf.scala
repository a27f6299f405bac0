package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.trees.TreePattern.TreePattern
import org.apache.spark.sql.types.{BooleanType, DataType}

/**
 * The DataFrame form of a point-in-time comparison: `left.filter(joinery_last_join_as_of(time[, tolerance]))`. A right
 * row matches if its first ORDER BY term is not after `time` (not before it under DESC), and not further away than
 * `tolerance`. This is a marker on the left side and not a join condition, because `on` may be only names of columns.
 *
 * @param children
 *   the left row's time, then the tolerance if there is one
 */
case class LastJoinAsOf(children: Seq[Expression]) extends Expression with Unevaluable {
  def time: Expression = children.head
  def tolerance: Option[Expression] = children.lift(1)
  override val nodePatterns: Seq[TreePattern] = Seq(LastJoin.Pattern)
  override def dataType: DataType = BooleanType
  override def nullable: Boolean = false
  override def prettyName: String = LastJoinAsOf.Name
  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): LastJoinAsOf =
    copy(children = newChildren)
}

object LastJoinAsOf {
  val Name = "joinery_last_join_as_of"

  val function: LastJoinOrder.FunctionDescription =
    (FunctionIdentifier(Name), new ExpressionInfo(classOf[LastJoinAsOf].getName, Name), LastJoinAsOf(_))
}

/**
 * The comparison of a [[LastJoinAsOf]], as a conjunct of the join's condition until
 * [[io.github.sparkjoinery.lastjoin.rules.PlanLastJoin]]. The wrapper shows that the comparison was added already: the
 * analyzer visits a join several times.
 */
case class LastJoinAsOfCondition(child: Expression) extends UnaryExpression with Unevaluable {
  override def dataType: DataType = BooleanType
  override protected def withNewChildInternal(newChild: Expression): LastJoinAsOfCondition = copy(child = newChild)
}
