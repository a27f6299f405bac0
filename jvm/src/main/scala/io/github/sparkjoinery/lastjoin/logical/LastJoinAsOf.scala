package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.trees.TreePattern.TreePattern
import org.apache.spark.sql.types.{BooleanType, DataType}

/**
 * The DataFrame form of a point-in-time comparison, `left.filter(joinery_last_join_as_of(time[, tolerance]))`: the
 * first ORDER BY term of the LAST JOIN whose left side this is must not lie after `time` (under DESC: before), nor
 * further away than `tolerance`. A marker on each side, rather than a condition, because `on` may be names only.
 *
 * @param children
 *   the left row's time, and the tolerance if there is one
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
 * What [[LastJoinAsOf]] became in the condition of the join, from the analyzer to
 * [[io.github.sparkjoinery.lastjoin.rules.PlanLastJoin]]: the analyzer sees the same join more than once, and must add
 * it once.
 */
case class LastJoinAsOfCondition(child: Expression) extends UnaryExpression with Unevaluable {
  override def dataType: DataType = BooleanType
  override protected def withNewChildInternal(newChild: Expression): LastJoinAsOfCondition = copy(child = newChild)
}
