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
 * Evaluates Python functions and correlated subqueries below the join. No join operator can evaluate them for a pair of
 * rows. Spark evaluates them in nodes of their own, below an ordinary join if one side has all needed columns. A
 * condition over right columns alone becomes a filter of the right side.
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

  /** Returns the first part of a condition that neither a side nor the join operator can evaluate. */
  def outOfReach(condition: Expression, sides: Seq[LogicalPlan]): Option[Expression] = {
    def isOverOneSide(e: Expression): Boolean = sides.exists(side => e.references.subsetOf(side.outputSet))
    condition.find {
      case subquery: ScalarSubquery => subquery.isCorrelated
      // Spark 4.1 treats a NULL among several values as a value that is not in the list.
      case in: InSubquery => (in.query.isCorrelated || in.values.length > 1) && !isOverOneSide(in)
      case e @ (_: Exists | _: PythonUDF) => !isOverOneSide(e)
      case _ => false
    }
  }

  /**
   * True for expressions that are evaluated below the join. NOT IN treats NULLs in its own way, so it is one
   * expression.
   */
  private def isComputed(e: Expression): Boolean = e match {
    case _: PythonUDF | _: InSubquery | Not(_: InSubquery) => true
    case exists: Exists => exists.isCorrelated
    case _ => false
  }

  /** A side and the columns computed on it. Equal expressions share one column. */
  private class Side(child: LogicalPlan) {
    private val columns = mutable.LinkedHashMap.empty[Expression, Alias]

    def has(e: Expression): Boolean = e.references.subsetOf(child.outputSet)
    def column(e: Expression): Attribute = columns.getOrElseUpdate(e.canonicalized, Alias(e, "computed")()).toAttribute
    def isPlain: Boolean = columns.isEmpty
    def plan: LogicalPlan =
      if (isPlain) child else JoinSubqueriesAboveLimit(Project(child.output ++ columns.values, child))
  }
}
