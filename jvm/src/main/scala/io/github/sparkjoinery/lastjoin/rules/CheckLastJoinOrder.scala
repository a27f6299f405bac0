package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.rules.Rule

import io.github.sparkjoinery.lastjoin.logical.{LastJoin, LastJoinLeft, LastJoinRight, MarkedRight}
import io.github.sparkjoinery.planning.JoineryException.fail

/**
 * Rejects a non-deterministic ON, and ORDER BY terms and times that have no meaning in a LAST JOIN. It is a post-hoc
 * resolution rule and not a check. Before the checks run, the analyzer pulls non-deterministic terms out into a
 * projection, and Spark rejects such an ON with an error of its own.
 */
object CheckLastJoinOrder extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    if (plan.containsPattern(LastJoin.Pattern)) plan.foreach {
      case Join(_, MarkedRight(_), LeftOuter, Some(on), _) if on.resolved && !on.deterministic =>
        fail("NONDETERMINISTIC_ON", s"ON of LAST JOIN must be deterministic, but it is ${on.sql}.", on.origin)
      case right: LastJoinRight =>
        right.order.filter(_.resolved).foreach(check)
        checkSide(right, "ORDER_BY_COLUMN", "order_by", "right")
      case left: LastJoinLeft => checkSide(left, "AS_OF_COLUMN", "as_of", "left")
      case _ =>
    }
    plan
  }

  /** Rejects a Column of another DataFrame. Spark would report an internal error for it. */
  private def checkSide(mark: UnaryNode, condition: String, argument: String, side: String): Unit =
    if (mark.resolved) mark.missingInput.headOption.foreach { column =>
      fail(
        condition,
        s"$argument of LAST JOIN takes columns of its $side side, but ${column.name} is none of these: " +
          s"${mark.child.output.map(_.name).mkString(", ")}. Conditions over both sides belong into on.",
        column.origin
      )
    }

  private def check(term: SortOrder): Unit = {
    def refuse(kind: String, what: Expression): Nothing =
      fail(
        s"ORDER_BY_$kind",
        "ORDER BY of LAST JOIN takes expressions over columns of its right side, " +
          s"not ${describe(kind)}: ${what.sql}.",
        what.origin)

    term.foreach {
      case e: AggregateExpression => refuse("AGGREGATE", e)
      case e: WindowExpression => refuse("WINDOW", e)
      case e: SubqueryExpression => refuse("SUBQUERY", e)
      case e: OuterReference => refuse("OUTER_REFERENCE", e)
      case _ =>
    }
    if (!term.deterministic) refuse("NONDETERMINISTIC", term.child)
  }

  private def describe(kind: String): String = kind match {
    case "AGGREGATE" => "an aggregate function"
    case "WINDOW" => "a window function"
    case "SUBQUERY" => "a subquery"
    case "OUTER_REFERENCE" => "a column of an outer query"
    case "NONDETERMINISTIC" => "a non-deterministic expression"
  }
}
