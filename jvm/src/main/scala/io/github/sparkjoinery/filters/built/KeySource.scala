package io.github.sparkjoinery.filters.built

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.optimizer.JoinSelectionHelper
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreeNodeTag

import io.github.sparkjoinery.expressions.HashedKey
import io.github.sparkjoinery.filters.Equalities
import io.github.sparkjoinery.planning.plans.{ParsedText, PreservesLeft, SomeRowsOfKeys}

/**
 * A table, or a part of one, whose rows hold all values of a side's keys, and perhaps more. The plan contains no
 * shuffle. A filter's build may share its shuffles with the query, and a late build is cancelled.
 *
 * @param plan
 *   projections and predicates over a table
 * @param keys
 *   keys over `plan`, each with its place among the side's keys
 */
case class KeySource(plan: LogicalPlan, keys: Seq[(Expression, Int)])

object KeySource extends PredicateHelper with JoinSelectionHelper {

  /**
   * Marks a join that gets no filter, because it shuffles nothing. Rows of one side would have had to pass `test`. Rows
   * that the join emits pass it, so a filter that is built from that side has fewer keys.
   *
   * @param make
   *   computes the predicate over that side, when it is needed
   */
  class SparedTest(val isLeft: Boolean, make: => Option[Expression]) {
    lazy val test: Option[Expression] = make
  }

  val Spared: TreeNodeTag[SparedTest] = TreeNodeTag("joinery_filter_spared")

  /**
   * Finds tables below a side: where its keys come from, and where equal keys come from across joins. The keys of `(a
   * JOIN b ON a.k = b.k)` are found in `a`, too. `a` may be the small table although the column is b's. A filtered
   * table has fewer keys of other columns, too: a chain of joins by different columns is filtered to its end.
   */
  def of(side: LogicalPlan, keys: Seq[Expression]): Seq[KeySource] = down(side, keys.zipWithIndex)

  /**
   * Leaves out keys without columns, which any table has, even one without rows. Also leaves out keys that are
   * expensive to compute again.
   */
  private def down(plan: LogicalPlan, all: Seq[(Expression, Int)]): Seq[KeySource] = {
    val keys = all.filter { case (key, _) => key.references.nonEmpty && Equalities.isCheap(key) }
    if (keys.isEmpty) Nil else into(plan, keys)
  }

  private def into(plan: LogicalPlan, keys: Seq[(Expression, Int)]): Seq[KeySource] = plan match {
    case _ if isPartOfTable(plan) =>
      if (ParsedText.asksForCorruptRecords(plan, keys.map(_._1))) Nil else Seq(KeySource(plan, keys))
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
    case join: PreservesLeft =>
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
    val equal = Equalities.of(condition, left, right)
    def in(side: LogicalPlan)(key: (Expression, Int)) = key._1.references.subsetOf(side.outputSet)
    def other(key: (Expression, Int), pairs: Seq[(Expression, Expression)]) =
      pairs.collectFirst { case (mine, theirs) if mine.semanticEquals(key._1) => (theirs, key._2) }
    // No table holds the NULLs that an outer join adds, or a value that a key makes from such NULLs.
    def from(side: LogicalPlan, isPadded: Boolean) =
      keys.filter(key => in(side)(key) && (!isPadded || Equalities.isNullOfNulls(key._1)))
    val fromLeft = from(left, isPadded = !comesOutOfLeft(joinType))
    val fromRight = from(right, isPadded = !comesOutOfRight(joinType))
    val toLeft = if (rightMatches) fromRight.flatMap(other(_, equal.map(_.swap))) else Nil
    val toRight = if (leftMatches) fromLeft.flatMap(other(_, equal)) else Nil
    narrowed(join, isLeft = true, down(left, fromLeft ++ toLeft)) ++
      narrowed(join, isLeft = false, down(right, fromRight ++ toRight))
  }

  /** True if the left columns that a join emits are always those of a left row, and never NULLs that the join adds. */
  private def comesOutOfLeft(joinType: JoinType): Boolean = joinType match {
    case _: InnerLike | LeftOuter | LeftSingle | LeftSemi | LeftAnti | _: ExistenceJoin => true
    case _ => false
  }

  private def comesOutOfRight(joinType: JoinType): Boolean = joinType match {
    case _: InnerLike | RightOuter => true
    case _ => false
  }

  private def narrowed(join: LogicalPlan, isLeft: Boolean, sources: Seq[KeySource]): Seq[KeySource] =
    join.getTagValue(Spared).filter(_.isLeft == isLeft && sources.nonEmpty).flatMap(_.test) match {
      case Some(test) => sources.map { source =>
          if (test.references.subsetOf(source.plan.outputSet)) source.copy(plan = Filter(test, source.plan)) else source
        }
      case None => sources
    }

  private def resolved(keys: Seq[(Expression, Int)], aliases: AttributeMap[Alias]): Seq[(Expression, Int)] =
    keys.map { case (key, place) => (replaceAlias(key, aliases), place) }
      .filter { case (key, _) => key.deterministic && Equalities.isShort(key) }

  private def isPartOfTable(plan: LogicalPlan): Boolean = plan match {
    case Project(_, child) => isPartOfTable(child)
    case Filter(_, child) => isPartOfTable(child)
    case SubqueryAlias(_, child) => isPartOfTable(child)
    case leaf => leaf.isInstanceOf[LeafNode]
  }
}
