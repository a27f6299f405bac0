package io.github.sparkjoinery.filters.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.LogicalRDD
import org.apache.spark.sql.execution.columnar.InMemoryRelation

import io.github.sparkjoinery.expressions.HashedKey

/**
 * A key of a plan, traced to where its values come from. A predicate over the key is pushed down that far.
 *
 * @param key
 *   the key over the columns of `end`
 * @param end
 *   a table, or the operator below which the key cannot be traced
 * @param above
 *   the operators above `end`, down from the plan itself
 */
case class KeyLineage(key: Expression, end: LogicalPlan, above: Seq[LogicalPlan]) {

  /** True if the key is a column of a table, perhaps widened. */
  def isColumn: Boolean = end.isInstanceOf[LeafNode] && HashedKey.column(key).isDefined

  def isConstant: Boolean = key.foldable

  /** True if there are only projections, predicates, functions in Python and unions above the table. */
  def isChain: Boolean = end.isInstanceOf[LeafNode] && above.forall {
    case _: Project | _: Filter | _: BaseEvalPython | _: Union => true
    case _ => false
  }
}

object KeyLineage extends AliasHelper {

  /** True if the plan holds its rows already, so that no reader reads them. */
  def isOfRows(plan: LogicalPlan): Boolean = plan match {
    case _: InMemoryRelation | _: LocalRelation | _: LogicalRDD | _: Range | _: OneRowRelation => true
    case _ => false
  }

  /**
   * Traces a key down a plan. A UNION has a result for each of its sides, as a predicate moves into each of them.
   * Spark's `findExpressionAndTrackLineageDown` follows the first side only. A key is not traced into a projection that
   * would make it too long.
   */
  def trace(key: Expression, plan: LogicalPlan): Seq[KeyLineage] = {
    def below(key: Expression, child: LogicalPlan): Seq[KeyLineage] =
      if (key.references.subsetOf(child.outputSet) && Equalities.isShort(key))
        trace(key, child).map(found => found.copy(above = plan +: found.above))
      else Seq(KeyLineage(key, plan, Nil))
    plan match {
      case Project(list, child) => below(replaceAlias(key, getAliasMap(list)), child)
      case aggregate: Aggregate => below(replaceAlias(key, getAliasMap(aggregate)), aggregate.child)
      case union: Union => union.children.flatMap(child => below(ofSide(key, union, child), child))
      case other => other.children.find(child => key.references.subsetOf(child.outputSet)) match {
          case Some(child) => below(key, child)
          case None => Seq(KeyLineage(key, other, Nil))
        }
    }
  }

  private def ofSide(key: Expression, union: Union, side: LogicalPlan): Expression = {
    val columns = AttributeMap(union.output.zip(side.output))
    key.transform { case column: Attribute => columns.getOrElse(column, column) }
  }
}
