package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{ConstraintHelper, Join, JoinHint, LogicalPlan}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.joinery.FloatingPointKeys
import org.apache.spark.sql.types.{BooleanType, DataType}

import io.github.sparkjoinery.execution.rows.{RowGrouping, TimeOrder}
import io.github.sparkjoinery.planning.{MayFail, Monotone, OnError}

/**
 * The ON and ORDER BY of a LAST JOIN, taken apart for execution. A right row is a match of a left row if their keys are
 * equal, the as-of comparison holds, and so do `within` and `residual`.
 *
 * @param leftKeys
 *   keys of the left side; equal, pair by pair, to `rightKeys` on every match
 * @param rightKeys
 *   keys of the right side
 * @param order
 *   ORDER BY and a tie-breaker, over the right side
 * @param asOf
 *   the `l` of an as-of comparison such as `r <= l`, the left row's bound: its candidates are those up to a place in
 *   the order; where the bound fails, all rows of its key
 * @param asOfTerm
 *   its `r`, which rises with the first ORDER BY term, or falls if that is descending
 * @param strict
 *   whether the comparison is `<` or `>`
 * @param within
 *   the tolerance: where it is not true of a row, it is of no row before that; true where it fails
 * @param residual
 *   the part of ON that is tested on each candidate: everything else, and what is above if it may fail
 * @param onePass
 *   whether one pass over both sides in the order of time finds every match: then they are sorted forwards
 */
case class LastJoinTerms(
    leftKeys: Seq[Expression],
    rightKeys: Seq[Expression],
    order: Seq[SortOrder],
    asOf: Option[Expression],
    asOfTerm: Option[Expression],
    strict: Boolean,
    within: Option[Expression],
    residual: Option[Expression],
    onePass: Boolean) extends Expression with Unevaluable {

  // One expression, so that an operator has one argument for all of it, and Spark's rules find every term.
  override def children: Seq[Expression] = leftKeys ++ rightKeys ++ order ++ asOf ++ asOfTerm ++ within ++ residual
  override def dataType: DataType = BooleanType
  override def nullable: Boolean = false

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): LastJoinTerms = {
    val terms = newChildren.iterator
    def several[T <: Expression](old: Seq[T]): Seq[T] = old.map(_ => terms.next().asInstanceOf[T])
    def one(old: Option[Expression]): Option[Expression] = old.map(_ => terms.next())
    copy(
      leftKeys = several(leftKeys),
      rightKeys = several(rightKeys),
      order = several(order),
      asOf = one(asOf),
      asOfTerm = one(asOfTerm),
      within = one(within),
      residual = one(residual)
    )
  }

  /** Whether the order alone decides among the rows of a key, so that only one of them matters. */
  def lastOfKey: Boolean = asOf.isEmpty && within.isEmpty && residual.isEmpty

  /** Whether candidates are to be tested one by one. */
  def hasConditions: Boolean = within.isDefined || residual.isDefined

  /**
   * The as-of term of right rows, computed for all of them: NULL, which matches nothing, where it fails. An ORDER BY
   * that fails does so anyway.
   */
  def rightTime: Option[Expression] =
    asOfTerm.map(term => if (term.semanticEquals(order.head.child)) term else OnError.orElse(term, null))

  /** The order in which the as-of term comes. */
  def asOfOrder: Option[SortOrder] = rightTime.map(term => order.head.copy(child = term, sameOrderExpressions = Nil))

  def leftLongKey: Option[Expression] = RowGrouping.longKey(leftKeys)
  def leftLongTime: Option[Expression] = RowGrouping.longTime(asOf, order).map { long =>
    if (asOf.exists(MayFail(_))) OnError(long, Literal(Long.MaxValue)) else long
  }
  def rightLongTime: Option[Expression] = RowGrouping.longTime(rightTime, order)

  def descending: Boolean = order.headOption.exists(_.direction == Descending)

  /**
   * How a merge wants its left rows: by key, and for one pass by time. Rows whose bound fails come last of a key, when
   * all candidates have been read.
   */
  def leftSort: Seq[SortOrder] = leftKeys.map(SortOrder(_, Ascending)) ++
    asOf.filter(_ => onePass).map { bound =>
      val nulls = if (MayFail(bound)) NullsLast else order.head.nullOrdering
      SortOrder(OnError.orElse(bound, null), order.head.direction, nulls, Nil)
    }

  /**
   * How a merge wants its right rows: for one pass forwards, else backwards, so that the first that passes is the last.
   */
  def rightSort: Seq[SortOrder] =
    rightKeys.map(SortOrder(_, Ascending)) ++ (if (onePass) order else order.map(LastJoinTerms.backwards))

  /**
   * How right rows are grouped.
   *
   * @param output
   *   columns of the right side
   */
  def grouping(output: Seq[Attribute]): RowGrouping = RowGrouping(
    BindReferences.bindReferences(rightKeys, output),
    BindReferences.bindReferences(order, output),
    rightTime.map(BindReferences.bindReference(_, output)),
    onlyLast = lastOfKey,
    output.length
  )

  /** How the as-of comparison looks at grouped right rows, if there is one. */
  def timeOrder(output: Seq[Attribute]): Option[TimeOrder] =
    asOfOrder.map(order => TimeOrder(BindReferences.bindReference(order, output), strict))
}

object LastJoinTerms extends PredicateHelper with ConstraintHelper {

  private def backwards(order: SortOrder): SortOrder = {
    val direction = if (order.direction == Ascending) Descending else Ascending
    val nulls = if (order.nullOrdering == NullsFirst) NullsLast else NullsFirst
    SortOrder(order.child, direction, nulls, Nil)
  }

  def of(join: LastJoin): LastJoinTerms = {
    val (keys, others) = equalities(join)
    val asOf = join.order.headOption.flatMap { first =>
      val rightOrder = new Monotone(first.child, join.right.outputSet)
      others.flatMap(asOfBound(join, first.direction == Ascending, rightOrder)).headOption
    }
    val rest = others.filterNot(asOf.map(_.comparison).contains)
    val (within, more) = rest.partition { predicate =>
      join.order.headOption.exists { first =>
        new Monotone(first.child, join.right.outputSet).staysFalseBackwards(predicate, first.direction == Ascending)
      }
    }
    val residual = others.filter { predicate =>
      if (asOf.exists(_.comparison == predicate)) asOf.exists(found => MayFail(found.left))
      else more.contains(predicate) || MayFail(predicate)
    }
    // Spark's LEFT JOIN tests conditions of the left side first, and no right rows with a NULL that matches nothing.
    val (ofLeft, ofPairs) = residual.partition(_.references.subsetOf(join.left.outputSet))
    val notNull = if (residual.exists(MayFail(_))) notNullOnRight(join, residual) else Nil
    LastJoinTerms(
      leftKeys = keys.map(_._1),
      rightKeys = keys.map(_._2),
      order = join.order ++ tieBreaker(join.right),
      asOf = asOf.map(_.left),
      asOfTerm = asOf.map(_.right),
      strict = asOf.exists(_.strict),
      within = within.map(OnError.orElse(_, true)).reduceOption(And),
      residual = (ofLeft ++ notNull ++ ofPairs).reduceOption(And),
      onePass = asOf.isDefined && more.isEmpty
    )
  }

  private def notNullOnRight(join: LastJoin, conditions: Seq[Expression]): Seq[Expression] =
    constructIsNotNullConstraints(ExpressionSet(conditions), Nil).toSeq.filter(condition =>
      canEvaluate(condition, join.right) && condition.children.exists(_.nullable))

  private case class AsOf(comparison: Expression, left: Expression, right: Expression, strict: Boolean)

  /** Key pairs, and the conjuncts of ON that are none. */
  private def equalities(join: LastJoin): (Seq[(Expression, Expression)], Seq[Expression]) = {
    val conjuncts = join.condition.toSeq.flatMap(splitConjunctivePredicates)
    val (candidates, others) = conjuncts.partition {
      case Equality(l, r) => isKey(l) && isKey(r)
      case _ => false
    }
    // Spark's own extractor, for what it knows of NULL-safe equality and constant sides.
    Join(join.left, join.right, LeftOuter, candidates.reduceOption(And), JoinHint.NONE) match {
      case ExtractEquiJoinKeys(_, leftKeys, rightKeys, rest, _, _, _, _) =>
        val normalized = leftKeys.map(FloatingPointKeys.normalize).zip(rightKeys.map(FloatingPointKeys.normalize))
        (normalized, rest.toSeq.flatMap(splitConjunctivePredicates) ++ others)
      case _ => (Nil, conjuncts)
    }
  }

  /**
   * Keys are hashed by their bytes and sorted: types for which either means something else are compared by ON itself.
   * So are keys with a subquery, whose result need not be there yet when the right side is sorted for its broadcast.
   */
  private def isKey(key: Expression): Boolean =
    UnsafeRowUtils.isBinaryStable(key.dataType) && RowOrdering.isOrderable(key.dataType) &&
      !SubqueryExpression.hasSubquery(key)

  private def asOfBound(
      join: LastJoin,
      ascending: Boolean,
      rightOrder: Monotone)(comparison: Expression): Option[AsOf] = {
    def bound(right: Expression, left: Expression, strict: Boolean): Option[AsOf] =
      Option.when(right.dataType == left.dataType && canEvaluate(right, join.right) &&
        isHarmless(right, join.order.head.child) &&
        rightOrder.direction(right).contains(1) && left.references.nonEmpty && canEvaluate(left, join.left))(AsOf(
        comparison,
        left,
        right,
        strict))

    comparison match {
      case LessThanOrEqual(a, b) => if (ascending) bound(a, b, strict = false) else bound(b, a, strict = false)
      case GreaterThanOrEqual(a, b) => if (ascending) bound(b, a, strict = false) else bound(a, b, strict = false)
      case LessThan(a, b) => if (ascending) bound(a, b, strict = true) else bound(b, a, strict = true)
      case GreaterThan(a, b) => if (ascending) bound(b, a, strict = true) else bound(a, b, strict = true)
      case _ => None
    }
  }

  /**
   * Whether an expression may be computed for each right row, also for those that ON itself would not have compared
   * with any left row: a row for which it fails is left out. Casts are widening ones here; ORDER BY is computed anyway.
   */
  private def isHarmless(right: Expression, orderBy: Expression): Boolean = right match {
    case _: Attribute | _: Literal => true
    case same if same.semanticEquals(orderBy) => !same.exists(_.isInstanceOf[BinaryArithmetic])
    case cast: Cast => isHarmless(cast.child, orderBy)
    case _ => false
  }

  /**
   * Rows that ORDER BY leaves tied arrive in any order after a shuffle. A hash of the whole row decides, so that a
   * retried task picks the same row; it is evaluated only where rows are tied.
   */
  def tieBreaker(right: LogicalPlan): Option[SortOrder] = {
    val hashed =
      right.output.filter(a => UnsafeRowUtils.isBinaryStable(a.dataType) && RowOrdering.isOrderable(a.dataType))
    Option.when(hashed.nonEmpty)(SortOrder(new XxHash64(hashed), Ascending))
  }
}
