package io.github.sparkjoinery.filters.built

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types.DecimalType

import io.github.sparkjoinery.expressions.{HashedKey, MightContain}
import io.github.sparkjoinery.filters.{Equalities, KeyLineage}

/**
 * What a join's condition tells of the rows of one side that match something.
 *
 * @param side
 *   to be filtered
 * @param other
 *   whose keys filter it
 * @param keys
 *   that are equal on every match, of types that can be hashed
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
   * @param mine
   *   of the other side, which the filter is built of
   * @param theirs
   *   of the side to be filtered
   */
  case class Key(mine: Expression, theirs: Expression)

  /**
   * `theirs` is at most `mine`, or at least. It may always be equal, too, whatever the condition says: Parquet's reader
   * takes microseconds off what it is told where a file has none, and by `t < 12:00:00.000` would skip the rows of
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

  /** Of `lower <= upper`. */
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

/** The test of a side's rows by what is found in a source of keys. */
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

  /** Whether it tests equality alone. */
  def comparesKeysOnly: Boolean = keys.nonEmpty && inequalities.isEmpty

  def isUseful: Boolean = keys.nonEmpty || bounds.nonEmpty

  /** What has to be known of the source. Keys of all joins have their bounds in it, so that equal keys share one. */
  val summary: KeySummary = KeySummary(
    source.plan,
    keys.flatMap(key => HashedKey.of(key.mine)),
    (keys.map(_.mine).filter(key => KeySummary.extremes(key.dataType).isDefined) ++ bounds.map(_.mine))
      .foldLeft(Seq.empty[Expression])((all, term) => if (all.exists(_.semanticEquals(term))) all else all :+ term)
  )

  /**
   * Whether the readers of a column may be told a bound: Parquet's may. Others skip nothing by it, but may drop rows,
   * as JSON's does that takes the first of two values, while Spark takes the second; or fail, as ORC's does where a
   * file's column is of another type than the table's. Of a decimal that is narrower in a file Parquet's reader cuts
   * the bound off, and skips what is within.
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
   * @param subquery
   *   of the summary
   * @param name
   *   of the source
   * @param isSelective
   *   whether hardly any row is likely to pass
   * @param pauses
   *   whether it may drop some rows of a key and let others pass
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
          HashedKey.hash(keys.flatMap(key => HashedKey.of(key.theirs))),
          BuiltFilter(subquery, name, isSelective),
          pauses))
    (compared ++ contained).reduce[Expression](And(_, _))
  }
}
