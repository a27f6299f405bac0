package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{ConstraintHelper, Join, JoinHint, LogicalPlan}
import org.apache.spark.sql.joinery.Collations
import org.apache.spark.sql.joinery.FloatingPointKeys
import org.apache.spark.sql.types.{BooleanType, DataType}

import io.github.sparkjoinery.execution.rows.{RowGrouping, TimeOrder}
import io.github.sparkjoinery.planning.terms.{MayFail, Monotone, OnError}

/**
 * The ON and ORDER BY of a LAST JOIN, taken apart for execution. A right row matches a left row if their keys are
 * equal, the as-of comparison holds, and `within` and `residual` are true.
 *
 * @param leftKeys
 *   keys of the left side; equal, pair by pair, to `rightKeys` on every match
 * @param rightKeys
 *   keys of the right side
 * @param order
 *   ORDER BY and a tie-breaker, over the right side
 * @param asOf
 *   the left row's bound: the `l` of an as-of comparison such as `r <= l`. The candidates are the rows of the key up to
 *   the bound, or all rows of the key if the bound throws
 * @param asOfTerm
 *   the `r` of the comparison. It rises with the first ORDER BY term, or falls if that term is descending.
 * @param strict
 *   true if the comparison is `<` or `>`
 * @param within
 *   the tolerance. If it is false for a row, it is false for all earlier rows; it is true if it throws.
 * @param residual
 *   the part of ON that is tested on each candidate: all other conditions, and the ones above if they may throw
 * @param onePass
 *   true if one pass over both sides, sorted by time, finds every match. Both sides are then sorted forwards.
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

  // One expression, so that an operator has a single argument and Spark's rules find every term.
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

  /** True if the order alone decides which row of a key is the match, so that only one row per key matters. */
  def lastOfKey: Boolean = asOf.isEmpty && within.isEmpty && residual.isEmpty

  /** True if candidates must be tested one by one. */
  def hasConditions: Boolean = within.isDefined || residual.isDefined

  /**
   * The as-of term, computed for every right row. It is NULL, and the row matches nothing, if the term throws. The
   * ORDER BY term keeps its errors: a sort by it throws them anyway.
   */
  def rightTime: Option[Expression] =
    asOfTerm.map(term => if (term.semanticEquals(order.head.child)) term else OnError.orElse(term, null))

  /** Sorts right rows by the as-of term. */
  def asOfOrder: Option[SortOrder] = rightTime.map(term => order.head.copy(child = term, sameOrderExpressions = Nil))

  def leftLongKey: Option[Expression] = RowGrouping.longKey(leftKeys)
  def leftLongTime: Option[Expression] = RowGrouping.longTime(asOf, order).map { long =>
    if (asOf.exists(MayFail(_))) OnError(long, Literal(Long.MaxValue)) else long
  }
  def rightLongTime: Option[Expression] = RowGrouping.longTime(rightTime, order)

  def descending: Boolean = order.headOption.exists(_.direction == Descending)

  /**
   * Sort order of the left side for a merge: by key, and by time if one pass is enough. Rows whose bound throws come
   * last in their key, after all its candidates have been read.
   */
  def leftSort: Seq[SortOrder] = leftKeys.map(SortOrder(_, Ascending)) ++
    asOf.filter(_ => onePass).map { bound =>
      val nulls = if (MayFail(bound)) NullsLast else order.head.nullOrdering
      SortOrder(OnError.orElse(bound, null), order.head.direction, nulls, Nil)
    }

  /**
   * Sort order of the right side for a merge: forwards if one pass is enough. Otherwise backwards, so that the first
   * row that passes is the match.
   */
  def rightSort: Seq[SortOrder] =
    rightKeys.map(SortOrder(_, Ascending)) ++ (if (onePass) order else order.map(LastJoinTerms.backwards))

  /**
   * Describes how right rows are grouped by key.
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

  /**
   * The order of the as-of term and its comparison, for a search in grouped right rows. None without an as-of
   * comparison.
   */
  def timeOrder(output: Seq[Attribute]): Option[TimeOrder] =
    asOfOrder.map(order => TimeOrder(BindReferences.bindReference(order, output), strict))
}

object LastJoinTerms extends PredicateHelper with ConstraintHelper {

  private def backwards(order: SortOrder): SortOrder = {
    val direction = if (order.direction == Ascending) Descending else Ascending
    val nulls = if (order.nullOrdering == NullsFirst) NullsLast else NullsFirst
    SortOrder(order.child, direction, nulls, Nil)
  }

  def split(join: LastJoin): LastJoinTerms = {
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

  /** Splits ON into pairs of keys and the other conjuncts. */
  private def equalities(join: LastJoin): (Seq[(Expression, Expression)], Seq[Expression]) = {
    val conjuncts = join.condition.toSeq.flatMap(splitConjunctivePredicates)
    val (candidates, others) = conjuncts.partition {
      case Equality(l, r) => isKey(l) && isKey(r)
      case _ => false
    }
    // Spark's own extractor also handles NULL-safe equality and constant sides.
    Join(join.left, join.right, LeftOuter, candidates.reduceOption(And), JoinHint.NONE) match {
      case ExtractEquiJoinKeys(_, leftKeys, rightKeys, rest, _, _, _, _) =>
        val normalized = leftKeys.map(FloatingPointKeys.normalize).zip(rightKeys.map(FloatingPointKeys.normalize))
        (normalized, rest.toSeq.flatMap(splitConjunctivePredicates) ++ others)
      case _ => (Nil, conjuncts)
    }
  }

  /**
   * True if an equality can be a join key. Keys are hashed by their bytes and sorted; types that do not support both
   * stay in ON. A key with a subquery stays in ON, too: its result may not be there when the right side is grouped for
   * its broadcast.
   */
  private def isKey(key: Expression): Boolean =
    Collations.isBinaryStable(key.dataType) && RowOrdering.isOrderable(key.dataType) &&
      !SubqueryExpression.hasSubquery(key)

  private def asOfBound(
      join: LastJoin,
      ascending: Boolean,
      rightOrder: Monotone)(comparison: Expression): Option[AsOf] = {
    def bound(right: Expression, left: Expression, strict: Boolean): Option[AsOf] =
      if (right.dataType == left.dataType && canEvaluate(right, join.right) &&
        isHarmless(right, join.order.head.child) && rightOrder.direction(right).contains(1) &&
        left.references.nonEmpty && canEvaluate(left, join.left)) Some(AsOf(comparison, left, right, strict))
      else None

    comparison match {
      case LessThanOrEqual(a, b) => if (ascending) bound(a, b, strict = false) else bound(b, a, strict = false)
      case GreaterThanOrEqual(a, b) => if (ascending) bound(b, a, strict = false) else bound(a, b, strict = false)
      case LessThan(a, b) => if (ascending) bound(a, b, strict = true) else bound(b, a, strict = true)
      case GreaterThan(a, b) => if (ascending) bound(b, a, strict = true) else bound(a, b, strict = true)
      case _ => None
    }
  }

  /**
   * True if the expression may be evaluated for every right row, including rows that ON would never compare with a left
   * row. A row for which it throws is dropped. The casts are widening ones, and ORDER BY is evaluated in any case.
   */
  private def isHarmless(right: Expression, orderBy: Expression): Boolean = right match {
    case _: Attribute | _: Literal => true
    case same if same.semanticEquals(orderBy) => !same.exists(_.isInstanceOf[BinaryArithmetic])
    case cast: Cast => isHarmless(cast.child, orderBy)
    case _ => false
  }

  /**
   * A hash of the whole row, which breaks ties of ORDER BY. Tied rows arrive in any order after a shuffle, and a
   * retried task must choose the same row. It is evaluated for tied rows only.
   */
  def tieBreaker(right: LogicalPlan): Option[SortOrder] = {
    val hashed =
      right.output.filter(a => Collations.isBinaryStable(a.dataType) && RowOrdering.isOrderable(a.dataType))
    if (hashed.nonEmpty) Some(SortOrder(new XxHash64(hashed), Ascending)) else None
  }
}
