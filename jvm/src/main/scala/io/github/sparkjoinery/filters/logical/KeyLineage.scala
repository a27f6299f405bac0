package io.github.sparkjoinery.filters.logical

import org.apache.spark.sql.catalyst.catalog.HiveTableRelation
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern.PYTHON_UDF
import org.apache.spark.sql.execution.LogicalRDD
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

import io.github.sparkjoinery.expressions.HashedKey
import io.github.sparkjoinery.planning.MayFail

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
case class KeyLineage(key: Expression, end: LogicalPlan, above: Seq[LogicalPlan]) extends PredicateHelper {
  import KeyLineage.isOfRows

  /** Whether it is a column of a table, perhaps widened. */
  def isColumn: Boolean = end.isInstanceOf[LeafNode] && HashedKey.column(key).isDefined

  def isConstant: Boolean = key.foldable && !MayFail(key)

  /** Whether there is nothing but projections and predicates above the table. */
  def isChain: Boolean = end.isInstanceOf[LeafNode] && above.forall {
    case _: Project | _: Filter | _: Union => true
    case _ => false
  }

  /**
   * Whether a predicate over the key stays behind those of the chain, so that it meets no row which they drop, if they
   * drop any. Spark moves it before functions of Python, before joins (which IN and EXISTS become), before what it
   * leaves above a projection because it is expensive, and before what the reader of another system's table leaves to
   * Spark; generated code asks last of all whether something is not NULL ([[isAskedLast]]); and Spark tests values of
   * partitions, and what `_metadata` tells of files, on the driver, also of those of which the query has no row.
   *
   * @param beside
   *   columns that the predicate tests beside the key
   */
  def staysBehind(beside: AttributeSet): Boolean = isChain && !key.references.subsetOf(ofWholeFiles) && (
    !above.exists(dropsRows) || leavesOrder && !above.exists {
      case Filter(_, _: Project) => true
      case Filter(condition, _) =>
        condition.containsPattern(PYTHON_UDF) || SubqueryExpression.hasInOrCorrelatedExistsSubquery(condition) ||
        isAskedLast(splitConjunctivePredicates(condition), beside)
      case _ => false
    })

  /** Others than those with a NULL in the key's only column, of which the key is NULL and does not fail. */
  private def dropsRows(operator: LogicalPlan): Boolean = operator match {
    case Filter(condition, _) => splitConjunctivePredicates(condition).exists {
        case IsNotNull(column: Attribute) if key.references.forall(_.semanticEquals(column)) =>
          !Equalities.isNullOfNulls(key)
        case IsNotNull(same) => !same.semanticEquals(key)
        case _ => true
      }
    case _ => false
  }

  /**
   * Whether one of these predicates is a NOT NULL that is tested after all others: none of them, and no key, has the
   * column. Spark's generated code tests a column for NULL where it is first used.
   */
  private def isAskedLast(predicates: Seq[Expression], beside: AttributeSet): Boolean = {
    val (notNull, others) = predicates.partition(_.isInstanceOf[IsNotNull])
    val used = key.references ++ beside ++ AttributeSet(others.flatMap(_.references))
    notNull.exists {
      case IsNotNull(column: Attribute) => !used.contains(column)
      case IsNotNull(other) => !other.semanticEquals(key)
      case _ => true
    }
  }

  private def leavesOrder: Boolean = end match {
    case LogicalRelation(_: HadoopFsRelation, _, _, _, _) | _: HiveTableRelation => true
    case leaf => isOfRows(leaf)
  }

  /** Columns that have one value in all rows of a file. */
  private def ofWholeFiles: AttributeSet = {
    val partitionColumns = end match {
      case LogicalRelation(files: HadoopFsRelation, _, _, _, _) => files.partitionSchema.fieldNames.toSeq
      case relation: HiveTableRelation => relation.partitionCols.map(_.name)
      case _ => Nil
    }
    AttributeSet(end.output.filter(column =>
      FileSourceMetadataAttribute.isValid(column.metadata) ||
        partitionColumns.exists(_.equalsIgnoreCase(column.name))))
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
