package io.github.sparkjoinery.filters

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.LogicalRDD
import org.apache.spark.sql.execution.columnar.InMemoryRelation

import io.github.sparkjoinery.expressions.HashedKey

/**
 * A key of a plan, as it is where its values come from. A predicate over the key moves down as far as that.
 *
 * @param key
 *   over `end`
 * @param end
 *   a table, or the operator below which the key cannot be followed
 * @param above
 *   the operators between `end` and the plan, which is one of them
 */
case class KeyLineage(key: Expression, end: LogicalPlan, above: Seq[LogicalPlan]) {

  /** Whether it is a column of a table, perhaps widened. */
  def isColumn: Boolean = end.isInstanceOf[LeafNode] && HashedKey.column(key).isDefined

  def isConstant: Boolean = key.foldable

  /** Whether there is nothing but projections and predicates above the table. */
  def isChain: Boolean = end.isInstanceOf[LeafNode] && above.forall {
    case _: Project | _: Filter | _: Union => true
    case _ => false
  }
}

object KeyLineage extends AliasHelper {

  /** Whether a plan has rows at hand, which no reader reads. */
  def isOfRows(plan: LogicalPlan): Boolean = plan match {
    case _: InMemoryRelation | _: LocalRelation | _: LogicalRDD | _: Range | _: OneRowRelation => true
    case _ => false
  }

  /**
   * At least one, and of a UNION those of all sides, as a predicate moves into each of them: Spark's
   * `findExpressionAndTrackLineageDown` follows the first side alone. A key is not followed into a projection that
   * makes it long, and so gets no predicate if it is no column.
   */
  def of(key: Expression, plan: LogicalPlan): Seq[KeyLineage] = {
    def below(key: Expression, child: LogicalPlan): Seq[KeyLineage] =
      if (key.references.subsetOf(child.outputSet) && Equalities.isShort(key))
        of(key, child).map(found => found.copy(above = plan +: found.above))
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
