package io.github.sparkjoinery.filters.logical

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import io.github.sparkjoinery.planning.terms.MayFail

/** Finds the keys of a join that a filter may use. */
object Equalities extends PredicateHelper {

  /**
   * Pairs of keys that are equal in every match, so that NULLs match nothing.
   *
   * @return
   *   the key of `side`, and the key of `other`, which is cheap to compute
   */
  def pairsIn(condition: Option[Expression], side: LogicalPlan, other: LogicalPlan): Seq[(Expression, Expression)] =
    condition.toSeq.flatMap(splitConjunctivePredicates).collect {
      case EqualTo(a, b) if canEvaluate(a, side) && canEvaluate(b, other) => (a, b)
      case EqualTo(b, a) if canEvaluate(a, side) && canEvaluate(b, other) => (a, b)
    }.filter { case (a, b) => a.references.nonEmpty && b.references.nonEmpty && a.deterministic && isCheap(b) }

  def isCheap(key: Expression): Boolean = key.deterministic && !key.exists {
    case _: SubqueryExpression | _: UserDefinedExpression | _: OuterReference => true
    case _ => false
  }

  // A CASE with some dozen branches has as many.
  private val MostTerms = 200

  /**
   * True if a key is short enough to be computed where its columns come from. A key that names a projected column
   * twice, which names another one twice, and so on, doubles with each projection. Spark does not merge such
   * projections, but would push a predicate through all of them.
   */
  def isShort(key: Expression): Boolean = {
    var terms = 0
    !key.exists { _ =>
      terms += 1
      terms > MostTerms
    }
  }

  /**
   * True if a filter over a side's key may move down as far as the key's columns reach. Columns and widening casts may
   * move anywhere. Other keys may move through projections and predicates, where they meet the same rows. No filter
   * moves to a place where a user's function, in Python for example, would be computed twice per row.
   */
  def isHarmless(key: Expression, side: LogicalPlan): Boolean = KeyLineage.trace(key, side).forall { found =>
    found.isColumn || found.isConstant || found.isChain && isCheap(found.key)
  }

  /** True if a key throws no error where its columns come from, even for rows that the query drops above. */
  def neverFails(key: Expression, side: LogicalPlan): Boolean =
    !KeyLineage.trace(key, side).exists(found => MayFail(found.key))

  /** True if a key is NULL, and so equal to nothing, when all its columns are NULL. False for `coalesce(k, 0)`. */
  def isNullOfNulls(key: Expression): Boolean = {
    val ofNulls = key.transform { case column: Attribute => Literal(null, column.dataType) }
    Try(ofNulls.eval()).toOption.contains(null) // a key that cannot be evaluated may be anything
  }
}
