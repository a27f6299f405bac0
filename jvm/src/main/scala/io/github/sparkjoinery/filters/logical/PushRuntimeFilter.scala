package io.github.sparkjoinery.filters.logical

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{CombineFilters, PushPredicateThroughNonJoin}
import org.apache.spark.sql.catalyst.plans.logical._

import io.github.sparkjoinery.planning.plans.{LeftOuterLike, SomeRowsOfKeys}

/**
 * Moves a filter down to where its rows come from. Joins keep their tags, which Spark's own rule for joins would drop:
 * a join that has lost its tags would wait for keys a second time.
 */
object PushRuntimeFilter extends PredicateHelper {

  @tailrec
  def apply(plan: LogicalPlan): LogicalPlan = {
    val next = CombineFilters(PushPredicateThroughNonJoin(plan)).transformDown {
      case Filter(condition, join: Join) =>
        into(condition, join, EmittedSides.hasLeft(join.joinType), EmittedSides.hasRight(join.joinType))
      case Filter(condition, join: LeftOuterLike) => into(condition, join, intoLeft = true, intoRight = false)
      case Filter(condition, some: SomeRowsOfKeys)
          if condition.references.subsetOf(AttributeSet(some.keys.collect { case key: Attribute => key })) =>
        some.withNewChildren(Seq(Filter(condition, some.child)))
    }
    if (next.fastEquals(plan)) plan else apply(next)
  }

  private def into(condition: Expression, join: BinaryNode, intoLeft: Boolean, intoRight: Boolean): LogicalPlan = {
    val (toLeft, others) = splitConjunctivePredicates(condition)
      .partition(intoLeft && _.references.subsetOf(join.left.outputSet))
    val (toRight, above) = others.partition(intoRight && _.references.subsetOf(join.right.outputSet))
    filtered(above, join.withNewChildren(Seq(filtered(toLeft, join.left), filtered(toRight, join.right))))
  }

  private def filtered(predicates: Seq[Expression], plan: LogicalPlan): LogicalPlan =
    predicates.reduceOption(And).fold(plan)(Filter(_, plan))
}
