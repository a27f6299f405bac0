package io.github.sparkjoinery.filters.built

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan}

/**
 * Finds sides whose keys would all pass a filter, because they come from rows from which the filter is built. A query
 * that joins a dimension twice has such keys, for example if it compares each month with the month before. Spark
 * computes a side that is joined with itself once, but not if one of the two places has a filter.
 */
object SameRows extends PredicateHelper {

  /**
   * True if a side has only keys that the source has, too.
   *
   * @param source
   *   the source of the filter's keys
   * @param side
   *   the application side
   * @param keys
   *   all keys that the filter tests
   */
  def contain(source: LogicalPlan, side: LogicalPlan, keys: Seq[JoinTerms.Key]): Boolean =
    Keys.of(source, keys.map(_.mine)).exists { known =>
      KeySource.of(side, keys.map(_.theirs))
        .collect { case KeySource(plan, found) if found.map(_._2).sorted == keys.indices => (plan, found.sortBy(_._2)) }
        .flatMap { case (plan, found) => Keys.of(plan, found.map(_._1)) }
        .exists(_.isWithin(known))
    }

  /** Keys of the rows of a table that pass predicates, in a form in which plans can be compared. */
  private class Keys(table: LeafNode, list: Seq[NamedExpression], conditions: Seq[Expression], terms: Seq[Expression]) {
    // Lazy, because most tables differ, and normalizing expressions takes longer than comparing tables.
    private lazy val predicates =
      conditions.flatMap(splitConjunctivePredicates).filter(_.deterministic).map(normalized).toSet
    private lazy val keys = {
      val aliases = getAliasMap(list)
      terms.map(key => normalized(replaceAlias(key, aliases)))
    }

    def isWithin(other: Keys): Boolean =
      canonicalTable == other.canonicalTable && keys == other.keys && other.predicates.subsetOf(predicates)

    private def canonicalTable = table.canonicalized
    private def normalized(term: Expression) = QueryPlan.normalizeExpressions(term, table.output).canonicalized
  }

  private object Keys {
    def of(plan: LogicalPlan, keys: Seq[Expression]): Option[Keys] = plan match {
      case PhysicalOperation(output, predicates, table: LeafNode) => Some(new Keys(table, output, predicates, keys))
      case _ => None
    }
  }
}
