package io.github.sparkjoinery.lastjoin.rules

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}

import io.github.sparkjoinery.lastjoin.logical.LastJoin

/**
 * {{{
 *   LastJoin f(r.t), l.k = r.k AND f(l.v) = 1          Project l.*, r.*
 *   :- l                                               +- LastJoin t, l.k = r.k AND v = 1
 *   +- r                                        ==>       :- Project l.*, f(l.v) AS v
 *                                                         |  +- l
 *                                                         +- Project r.*, f(r.t) AS t
 *                                                            +- r
 * }}}
 *
 * No operator calls Python, or asks a correlated subquery, for a pair of rows: Spark has nodes of their own for both,
 * and puts them below an ordinary join where one side has all the columns they need. So it is here. A condition over
 * right columns alone is a filter of the right side.
 */
private[rules] object ComputeBelowLastJoin extends PredicateHelper {

  def apply(join: LastJoin): LogicalPlan = {
    val (ofRight, others) = join.condition.toSeq.flatMap(splitConjunctivePredicates).partition { condition =>
      condition.exists(isComputed) && condition.references.nonEmpty &&
      condition.references.subsetOf(join.right.outputSet)
    }
    val (left, right) =
      (new Side(join.left), new Side(ofRight.reduceOption(And).fold(join.right)(Filter(_, join.right))))
    def below(sides: Side*)(e: Expression): Expression =
      if (isComputed(e)) sides.find(_.has(e)).fold(e)(_.column(e)) else e.mapChildren(below(sides: _*))
    val conditions = others.map(below(left, right))
    val order = join.order.map(term => term.copy(child = below(right)(term.child)))
    val computed = join.copy(left.plan, right.plan, order, conditions.reduceOption(And))
    if (left.isPlain && right.isPlain) computed else Project(join.output, computed)
  }

  /** The first part of a condition that is computed neither below the join nor by its operator for a pair of rows. */
  def outOfReach(condition: Expression, sides: Seq[LogicalPlan]): Option[Expression] = {
    def isOverOneSide(e: Expression): Boolean = sides.exists(side => e.references.subsetOf(side.outputSet))
    condition.find {
      case subquery: ScalarSubquery => subquery.isCorrelated
      // Spark 4.1 takes NULL among several values for one that is not in the list.
      case in: InSubquery => (in.query.isCorrelated || in.values.length > 1) && !isOverOneSide(in)
      case e @ (_: Exists | _: PythonUDF) => !isOverOneSide(e)
      case _ => false
    }
  }

  /** NOT IN has a meaning of its own where there are NULLs, so it stays together. */
  private def isComputed(e: Expression): Boolean = e match {
    case _: PythonUDF | _: InSubquery | Not(_: InSubquery) => true
    case exists: Exists => exists.isCorrelated
    case _ => false
  }

  /** A side, and what is computed there, once where it is used twice. */
  private class Side(child: LogicalPlan) {
    private val columns = mutable.LinkedHashMap.empty[Expression, Alias]

    def has(e: Expression): Boolean = e.references.subsetOf(child.outputSet)
    def column(e: Expression): Attribute = columns.getOrElseUpdate(e.canonicalized, Alias(e, "computed")()).toAttribute
    def isPlain: Boolean = columns.isEmpty
    def plan: LogicalPlan = if (isPlain) child else Project(child.output ++ columns.values, child)
  }
}
