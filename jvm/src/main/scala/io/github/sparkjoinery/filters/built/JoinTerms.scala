package io.github.sparkjoinery.filters.built

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types.DecimalType

import io.github.sparkjoinery.expressions.{HashedKey, MightContain}
import io.github.sparkjoinery.filters.{Equalities, KeyLineage}

/**
 * The parts of a join's condition by which one side can filter the other.
 *
 * @param side
 *   the side to be filtered
 * @param other
 *   the side whose keys filter `side`
 * @param keys
 *   keys that are equal in every match, of types that can be hashed
 * @param bounds
 *   comparisons of a column of `side` with a term of `other`
 */
case class JoinTerms(
    side: LogicalPlan,
    other: LogicalPlan,
    keys: Seq[JoinTerms.Key],
    bounds: Seq[JoinTerms.Bound]) {
  def isEmpty: Boolean = keys.isEmpty && bounds.isEmpty
}

object JoinTerms extends PredicateHelper {

  /**
   * A pair of equal keys.
   *
   * @param mine
   *   the key of the other side, from which the filter is built
   * @param theirs
   *   the key of the side to be filtered
   */
  case class Key(mine: Expression, theirs: Expression)

  /**
   * `theirs` is at most `mine`, or at least. Both may be equal, even if the condition is strict. Parquet's reader
   * removes the microseconds of a bound if a file has none. A strict `t < 12:00:00.000` would then skip the rows of
   * noon, which are before 12:00:00.0005.
   */
  case class Bound(mine: Expression, theirs: Attribute, isUpper: Boolean)

  def of(condition: Option[Expression], side: LogicalPlan, other: LogicalPlan): JoinTerms = JoinTerms(
    side,
    other,
    harmless(
      Equalities.of(condition, other, side).collect {
        case (mine, theirs)
            if HashedKey.typeOf(mine.dataType).isDefined && HashedKey.typeOf(mine.dataType) == HashedKey.typeOf(
              theirs.dataType) && Equalities.isCheap(mine) => Key(mine, theirs)
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

  private[built] def harmless(keys: Seq[Key], side: LogicalPlan): Seq[Key] =
    keys.filter(key => Equalities.isHarmless(key.theirs, side))

  /** The bounds in `lower <= upper`. */
  private def bounds(lower: Expression, upper: Expression, side: LogicalPlan, other: LogicalPlan): Seq[Bound] = {
    def bound(theirs: Expression, mine: Expression, isUpper: Boolean) = theirs match {
      case column: Attribute
          if side.outputSet.contains(column) && canEvaluate(mine, other) && mine.references.nonEmpty &&
            Equalities.isCheap(mine) && Equalities.isHarmless(column, side) &&
            Equalities.neverFails(column, side) && KeySummary.extremes(column.dataType).isDefined &&
            mine.dataType == column.dataType => Some(Bound(mine, column, isUpper))
      case _ => None
    }
    (bound(lower, upper, isUpper = true) ++ bound(upper, lower, isUpper = false)).toSeq
  }
}

/** The predicate on a side's rows, made from a source of keys. */
class KeyTest(terms: JoinTerms, source: KeySource) extends PredicateHelper {
  import JoinTerms._

  private def found(place: Int): Option[Expression] = source.keys.collectFirst { case (key, `place`) => key }

  val keys: Seq[Key] = harmless(
    terms.keys.zipWithIndex.flatMap { case (key, i) => found(i).map(mine => key.copy(mine = mine)) },
    terms.side)

  private val inequalities: Seq[Bound] = terms.bounds.zipWithIndex.flatMap { case (bound, i) =>
    found(terms.keys.length + i).map(mine => bound.copy(mine = mine))
  }

  private val bounds: Seq[Bound] = inequalities ++ keys.flatMap {
    case Key(mine, theirs: Attribute)
        if mine.dataType == theirs.dataType && KeySummary.extremes(theirs.dataType).isDefined &&
          Equalities.neverFails(theirs, terms.side) =>
      Seq(Bound(mine, theirs, isUpper = false), Bound(mine, theirs, isUpper = true))
    case _ => Nil
  }

  def side: LogicalPlan = terms.side

  /** True if only equality is tested. */
  def comparesKeysOnly: Boolean = keys.nonEmpty && inequalities.isEmpty

  def isUseful: Boolean = keys.nonEmpty || bounds.nonEmpty

  /** The summary of the source. It has bounds for the keys of every join, so that equal keys share one summary. */
  val summary: KeySummary = KeySummary(
    source.plan,
    keys.flatMap(key => HashedKey.hashable(key.mine)),
    (keys.map(_.mine).filter(key => KeySummary.extremes(key.dataType).isDefined) ++ bounds.map(_.mine))
      .foldLeft(Seq.empty[Expression])((all, term) => if (all.exists(_.semanticEquals(term))) all else all :+ term)
  )

  /**
   * True if the readers of a column may see a bound. Parquet's reader may. Other readers skip nothing by it, but may
   * drop rows or fail. JSON's drops rows: it takes the first of two values, while Spark takes the second. ORC's fails
   * if a file's column has another type than the table's. If a decimal is narrower in a file, Parquet's reader cuts off
   * the bound, and skips rows within it.
   */
  private def isTold(column: Attribute): Boolean = KeyLineage.of(column, terms.side).forall { found =>
    found.end match {
      case LogicalRelation(files: HadoopFsRelation, _, _, _, _) => (files.fileFormat, column.dataType) match {
          case (_: ParquetFileFormat, _: DecimalType) => false
          case (_: ParquetFileFormat, _) => true
          case _ => false
        }
      case _ => found.isConstant || KeyLineage.isOfRows(found.end)
    }
  }

  /**
   * The predicate on the side's rows.
   *
   * @param subquery
   *   the subquery of the summary
   * @param name
   *   the name of the source
   * @param isSelective
   *   true if hardly any row is likely to pass
   * @param pauses
   *   true if the filter may drop some rows of a key and let others pass
   */
  def predicate(subquery: Expression, name: String, isSelective: Boolean, pauses: Boolean): Expression = {
    val compared = bounds.map { bound =>
      val (least, most) = KeySummary.extremes(bound.theirs.dataType).get
      val field = summary.fieldOf(bound.mine)
      val told = isTold(bound.theirs)
      if (bound.isUpper) LessThanOrEqual(bound.theirs, KeyBound(subquery, field + 1, most, name, told))
      else GreaterThanOrEqual(bound.theirs, KeyBound(subquery, field, least, name, told))
    }
    val contained =
      if (keys.isEmpty) None
      else
        Some(MightContain(
          HashedKey.hash(keys.flatMap(key => HashedKey.hashable(key.theirs))),
          BuiltFilter(subquery, name, isSelective),
          pauses))
    (compared ++ contained).reduce[Expression](And(_, _))
  }
}
