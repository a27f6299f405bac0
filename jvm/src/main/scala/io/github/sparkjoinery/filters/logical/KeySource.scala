package io.github.sparkjoinery.filters.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.optimizer.JoinSelectionHelper
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._

import io.github.sparkjoinery.expressions.HashedKey
import io.github.sparkjoinery.planning.plans.{LeftOuterLike, SomeRowsOfKeys}

/**
 * A plan below a side of a join whose rows have all values of the side's keys, and perhaps more.
 *
 * @param keys
 *   terms over `plan`, each with its place among the side's keys
 */
case class KeySource(plan: LogicalPlan, keys: Seq[(Expression, Int)])

object KeySource {

  /**
   * Finds the plans below a side that its keys come from. It follows keys through projections, and across joins to the
   * terms that they are equal to. The keys of `(a JOIN b ON a.k = b.k)` are found in `a`, too. `a` may be the small
   * table although the column is b's.
   *
   * @param isEnd
   *   true for plans whose keys can be read
   */
  def findBelow(side: LogicalPlan, keys: Seq[Expression])(isEnd: LogicalPlan => Boolean): Seq[KeySource] =
    new Search(isEnd).down(side, keys.zipWithIndex)
}

/** Follows keys down a side, to the plans where they can be read. */
private class Search(isEnd: LogicalPlan => Boolean) extends PredicateHelper with JoinSelectionHelper {

  /**
   * Leaves out keys without columns, which any table has, even one without rows. Also leaves out keys that are
   * expensive to compute again.
   */
  def down(plan: LogicalPlan, all: Seq[(Expression, Int)]): Seq[KeySource] = {
    val keys = all.filter { case (key, _) => key.references.nonEmpty && Equalities.isCheap(key) }
    if (keys.isEmpty) Nil else into(plan, keys)
  }

  private def into(plan: LogicalPlan, keys: Seq[(Expression, Int)]): Seq[KeySource] = plan match {
    case end if isEnd(end) => Seq(KeySource(end, keys))
    case Project(list, child) => down(child, resolved(keys, getAliasMap(list)))
    case aggregate: Aggregate =>
      val below = resolved(keys, getAliasMap(aggregate)).filterNot(_._1.exists(_.isInstanceOf[AggregateExpression]))
      down(
        aggregate.child,
        below.filter(key => key._1.references.subsetOf(aggregate.child.outputSet) && isOfRows(key._1)))
    case _: Filter | _: Sort | _: Distinct | _: RepartitionOperation | _: GlobalLimit | _: LocalLimit | _: Window |
        _: Generate | _: SomeRowsOfKeys | _: SubqueryAlias =>
      val child = plan.children.head
      down(child, keys.filter(_._1.references.subsetOf(child.outputSet)))
    case join: Join =>
      across(
        join,
        join.condition,
        keys,
        join.joinType)
    case join: LeftOuterLike =>
      across(
        join,
        join.condition,
        keys,
        LeftOuter)
    case _ => Nil
  }

  /**
   * True if a key is the same above an aggregate and below it. An aggregate turns -0.0 into 0.0, makes all NaN one
   * value, and sorts maps. A number has the same hash either way, but a value computed from it, such as its text, has
   * not.
   */
  private def isOfRows(key: Expression): Boolean = HashedKey.column(key).isDefined ||
    !key.children.exists(_.exists(term => Normalized.exists(term.dataType.sql.contains)))

  private val Normalized = Seq("FLOAT", "DOUBLE", "MAP<")

  private def across(
      join: BinaryNode,
      condition: Option[Expression],
      keys: Seq[(Expression, Int)],
      joinType: JoinType): Seq[KeySource] = {
    val (left, right) = (join.left, join.right)
    // True if a key that the join emits, and that is not NULL, has a match on the other side.
    val (leftMatches, rightMatches) = (canPruneLeft(joinType), canPruneRight(joinType))
    val equal = Equalities.pairsIn(condition, left, right)
    def isOver(side: LogicalPlan)(key: (Expression, Int)) = key._1.references.subsetOf(side.outputSet)
    def other(key: (Expression, Int), pairs: Seq[(Expression, Expression)]) =
      pairs.collectFirst { case (mine, theirs) if mine.semanticEquals(key._1) => (theirs, key._2) }
    // No table holds the NULLs that an outer join adds, or a value that a key makes from such NULLs.
    def from(side: LogicalPlan, isPadded: Boolean) =
      keys.filter(key => isOver(side)(key) && (!isPadded || Equalities.isNullOfNulls(key._1)))
    val fromLeft = from(left, isPadded = !EmittedSides.hasLeft(joinType))
    val fromRight = from(right, isPadded = !EmittedSides.hasRight(joinType))
    val toLeft = if (rightMatches) fromRight.flatMap(other(_, equal.map(_.swap))) else Nil
    val toRight = if (leftMatches) fromLeft.flatMap(other(_, equal)) else Nil
    down(left, fromLeft ++ toLeft) ++ down(right, fromRight ++ toRight)
  }

  private def resolved(keys: Seq[(Expression, Int)], aliases: AttributeMap[Alias]): Seq[(Expression, Int)] =
    keys.map { case (key, place) => (replaceAlias(key, aliases), place) }
      .filter { case (key, _) => key.deterministic && Equalities.isShort(key) }
}
