package io.github.sparkjoinery.filters

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

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

  // A CASE of some dozen branches.
  private val MostTerms = 200

  /**
   * Whether a key may be computed where its columns come from. One that names a column of a projection twice, which
   * names one of the next twice, and so on, doubles with each of them: Spark leaves those apart, but would follow a
   * predicate through all.
   */
  def isShort(key: Expression): Boolean = {
    var terms = 0
    !key.exists { _ =>
      terms += 1
      terms > MostTerms
    }
  }

  /**
   * Whether a filter over a side's key may move down as far as its columns reach. Columns and widening casts may move
   * anywhere, other keys through projections and predicates, where the same rows meet them. No filter moves to where a
   * function of the user's, Python's for example, would be computed twice for each row.
   */
  def isHarmless(key: Expression, side: LogicalPlan): Boolean = KeyLineage.of(key, side).forall { found =>
    found.isColumn || found.isConstant || found.isChain && isCheap(found.key)
  }

  /** Whether a key raises no error where its columns come from, for rows that the query may drop before it. */
  def neverFails(key: Expression, side: LogicalPlan): Boolean =
    !KeyLineage.of(key, side).exists(found => MayFail(found.key))

  /** Whether a key is NULL, and so equal to nothing, where all of its columns are: not `coalesce(k, 0)`. */
  def isNullOfNulls(key: Expression): Boolean = {
    val ofNulls = key.transform { case column: Attribute => Literal(null, column.dataType) }
    Try(ofNulls.eval()).toOption.contains(null) // those that fail, or cannot be evaluated as they are, may be anything
  }
}
