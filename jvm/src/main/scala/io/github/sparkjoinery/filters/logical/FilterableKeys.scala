package io.github.sparkjoinery.filters.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types._

import io.github.sparkjoinery.expressions.HashedKey

/**
 * The terms of a join condition by which one side can filter the other.
 *
 * @param side
 *   the application side
 * @param keys
 *   pairs of keys that are equal in every match, of types that can be hashed
 * @param bounds
 *   comparisons of a column of the application side with a term of the creation side
 */
case class FilterableKeys(side: LogicalPlan, keys: Seq[FilterableKeys.Key], bounds: Seq[FilterableKeys.Bound]) {
  def isEmpty: Boolean = keys.isEmpty && bounds.isEmpty

  /** The terms of the creation side, keys first. */
  def creation: Seq[Expression] = keys.map(_.creation) ++ bounds.map(_.creation)

  /** The terms that a source of keys has, over its plan. */
  def foundIn(source: KeySource): FilterableKeys = {
    def found(place: Int): Option[Expression] = source.keys.collectFirst { case (key, `place`) => key }
    val pairs = keys.zipWithIndex.flatMap { case (key, i) => found(i).map(term => key.copy(creation = term)) }
    copy(
      keys = FilterableKeys.harmless(pairs, side),
      bounds = bounds.zipWithIndex.flatMap { case (bound, i) =>
        found(keys.length + i).map(term => bound.copy(creation = term))
      })
  }

  /** All comparisons with bounds: those of the condition, and two for each key. */
  def ranges: Seq[FilterableKeys.Bound] = bounds ++ keys.flatMap {
    case FilterableKeys.Key(creation, application: Attribute)
        if creation.dataType == application.dataType && FilterableKeys.isOrdered(application.dataType) &&
          Equalities.neverFails(application, side) =>
      Seq(true, false).map(FilterableKeys.Bound(creation, application, _))
    case _ => Nil
  }

  /** The hash of the keys of a creation row; None if the condition has no equality. */
  def creationHash: Option[Expression] = hash(keys.map(_.creation))

  def applicationHash: Option[Expression] = hash(keys.map(_.application))

  private def hash(terms: Seq[Expression]): Option[Expression] =
    if (terms.isEmpty) None else Some(HashedKey.hash(terms.flatMap(HashedKey.hashable(_))))
}

object FilterableKeys extends PredicateHelper {

  /** A pair of equal keys, one of each side. */
  case class Key(creation: Expression, application: Expression)

  /**
   * A comparison: `application` is at most `creation`, or at least. Both may be equal, even if the condition is strict.
   * Parquet's reader removes the microseconds of a bound if a file has none. A strict `t < 12:00:00.000` would then
   * skip the rows of noon, which are before 12:00:00.0005.
   */
  case class Bound(creation: Expression, application: Attribute, isUpper: Boolean)

  /** Finds the terms of a condition between the application side and the other side. */
  def between(condition: Option[Expression], side: LogicalPlan, other: LogicalPlan): FilterableKeys = FilterableKeys(
    side,
    harmless(
      Equalities.pairsIn(condition, other, side).collect {
        case (creation, application)
            if HashedKey.typeOf(creation.dataType).isDefined && HashedKey.typeOf(creation.dataType) == HashedKey.typeOf(
              application.dataType) && Equalities.isCheap(creation) => Key(creation, application)
      },
      side
    ),
    condition.toSeq.flatMap(splitConjunctivePredicates).flatMap {
      case LessThanOrEqual(a, b) => bounds(a, b, side, other)
      case LessThan(a, b) => bounds(a, b, side, other)
      case GreaterThanOrEqual(a, b) => bounds(b, a, side, other)
      case GreaterThan(a, b) => bounds(b, a, side, other)
      case _ => Nil
    }
  )

  /** True for types that have a smallest and a largest value that a reader may see. */
  private def isOrdered(dataType: DataType): Boolean = dataType match {
    case ByteType | ShortType | IntegerType | LongType | DateType | TimestampType | TimestampNTZType | _: DecimalType =>
      true
    case _ => false
  }

  private def harmless(keys: Seq[Key], side: LogicalPlan): Seq[Key] =
    keys.filter(key => Equalities.isHarmless(key.application, side))

  /** The bounds in `lower <= upper`. */
  private def bounds(lower: Expression, upper: Expression, side: LogicalPlan, other: LogicalPlan): Seq[Bound] = {
    def bound(application: Expression, creation: Expression, isUpper: Boolean) = application match {
      case column: Attribute
          if side.outputSet.contains(column) && canEvaluate(creation, other) && creation.references.nonEmpty &&
            Equalities.isCheap(creation) && Equalities.isHarmless(column, side) &&
            Equalities.neverFails(column, side) && isOrdered(column.dataType) && creation.dataType == column.dataType =>
        Some(Bound(creation, column, isUpper))
      case _ => None
    }
    (bound(lower, upper, isUpper = true) ++ bound(upper, lower, isUpper = false)).toSeq
  }
}
