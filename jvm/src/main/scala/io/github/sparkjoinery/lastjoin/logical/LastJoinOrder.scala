package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.trees.TreePattern.TreePattern
import org.apache.spark.sql.types.{BooleanType, DataType}

/**
 * The DataFrame form of ORDER BY: `right.filter(joinery_last_join_order(terms...))`, followed by a left join. It is a
 * function, because functions reach Spark Connect servers through the ordinary DataFrame API. A server without the jar
 * cannot resolve the function and fails, instead of returning every match.
 *
 * {{{
 * left.join(right.filter(call_function("joinery_last_join_order", col("ts").desc)), Seq("k"), "left")
 * }}}
 *
 * @param children
 *   columns of the right side, or sort orders over them
 */
case class LastJoinOrder(children: Seq[Expression]) extends Expression with Unevaluable {
  def order: Seq[SortOrder] = children.map {
    case term: SortOrder => term
    case column => SortOrder(column, Ascending)
  }
  override val nodePatterns: Seq[TreePattern] = Seq(LastJoin.Pattern)
  override def dataType: DataType = BooleanType
  override def nullable: Boolean = false
  override lazy val deterministic: Boolean = children.forall(_.deterministic)
  override def prettyName: String = LastJoinOrder.Name
  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): LastJoinOrder =
    copy(children = newChildren)
}

object LastJoinOrder {
  val Name = "joinery_last_join_order"

  type FunctionDescription = (FunctionIdentifier, ExpressionInfo, Seq[Expression] => Expression)

  val function: FunctionDescription =
    (FunctionIdentifier(Name), new ExpressionInfo(classOf[LastJoinOrder].getName, Name), LastJoinOrder(_))
}
