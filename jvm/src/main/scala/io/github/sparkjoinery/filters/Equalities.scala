package io.github.sparkjoinery.filters

import org.apache.spark.sql.catalyst.catalog.HiveTableRelation
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LeafNode, LogicalPlan, Project}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

import io.github.sparkjoinery.expressions.HashedKey
import io.github.sparkjoinery.planning.MayFail

/** Keys of a join, and what a filter may ask of them. */
object Equalities extends PredicateHelper {

  /**
   * Pairs that are equal on every match, so that NULLs match nothing.
   *
   * @return
   *   the key of `side`, and that of `other`, which is cheap to compute
   */
  def of(condition: Option[Expression], side: LogicalPlan, other: LogicalPlan): Seq[(Expression, Expression)] =
    condition.toSeq.flatMap(splitConjunctivePredicates).collect {
      case EqualTo(a, b) if canEvaluate(a, side) && canEvaluate(b, other) => (a, b)
      case EqualTo(b, a) if canEvaluate(a, side) && canEvaluate(b, other) => (a, b)
    }.filter { case (a, b) => a.references.nonEmpty && b.references.nonEmpty && a.deterministic && isCheap(b) }

  def isCheap(key: Expression): Boolean = key.deterministic && !key.exists {
    case _: SubqueryExpression | _: UserDefinedExpression | _: OuterReference => true
    case _ => false
  }

  /**
   * Whether a filter over a side's key cannot fail. It moves down as far as its columns reach, perhaps to rows that the
   * query would have dropped before it computed the key. Columns and widening casts do not fail; whatever else is left
   * where the same rows meet it, unless it is of partition columns alone.
   */
  def isHarmless(key: Expression, side: LogicalPlan): Boolean = {
    def isChain(plan: LogicalPlan): Boolean = plan match {
      case Project(_, child) => isChain(child)
      case Filter(_, child) => isChain(child)
      case leaf => leaf.isInstanceOf[LeafNode]
    }
    findExpressionAndTrackLineageDown(key, side) match {
      case Some((below, table)) => HashedKey.column(below).isDefined ||
        isChain(side) && (!MayFail(below) || !below.references.subsetOf(partitionColumns(table)))
      case None => isChain(side)
    }
  }

  /** Those whose values Spark tests on the driver, of partitions that the query has no other row of, too. */
  private def partitionColumns(table: LogicalPlan): AttributeSet = {
    val names = table match {
      case LogicalRelation(files: HadoopFsRelation, _, _, _, _) => files.partitionSchema.fieldNames.toSeq
      case relation: HiveTableRelation => relation.partitionCols.map(_.name)
      case relation: DataSourceV2Relation =>
        relation.table.partitioning.toSeq.flatMap(_.references).map(_.fieldNames.head)
      case _ => Nil
    }
    AttributeSet(table.output.filter(column => names.exists(_.equalsIgnoreCase(column.name))))
  }
}
