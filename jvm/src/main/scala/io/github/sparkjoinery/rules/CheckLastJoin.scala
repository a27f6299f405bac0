package io.github.sparkjoinery.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}

import io.github.sparkjoinery.logical.{LastJoinOrder, LastJoinRight}
import io.github.sparkjoinery.rules.LastJoinException.fail

/**
 * Refuses what LAST JOIN cannot mean. What any join refuses (unknown or ambiguous columns, an ON that is not boolean,
 * ...) Spark has refused by then, because until now it is an ordinary join.
 */
object CheckLastJoin extends (LogicalPlan => Unit) {

  override def apply(plan: LogicalPlan): Unit = plan.foreachUp {
    case join @ Join(left, right: LastJoinRight, LeftOuter, condition, _) =>
      if (left.isStreaming || right.isStreaming) {
        fail("STREAMING", "LAST JOIN of a streaming source is not supported: which row is last is only known when all are.",
          join.origin)
      }
      right.order.foreach(checkOrder)
      condition.foreach(checkCondition)
    case join @ Join(_, _: LastJoinRight, other, _, _) =>
      fail("JOIN_TYPE", s"${LastJoinOrder.Name} marks the right side of a left join, but this is a join of type $other.",
        join.origin)
    case node =>
      node.expressions.foreach(_.foreach {
        case marker: LastJoinOrder =>
          fail("MISPLACED_ORDER", s"${LastJoinOrder.Name} stands alone in the filter of a left join's right side: " +
            s"left.join(right.filter(${LastJoinOrder.Name}(...)), on, 'left'). Use last_join(), which writes it.", marker.origin)
        case _ =>
      })
  }

  private def checkOrder(term: SortOrder): Unit = {
    def refuse(kind: String, what: Expression): Nothing =
      fail(s"ORDER_BY_$kind", s"ORDER BY of LAST JOIN takes expressions over columns of its right side, " +
        s"not ${describe(kind)}: ${what.sql}.", what.origin)

    term.foreach {
      case e: AggregateExpression => refuse("AGGREGATE", e)
      case e: WindowExpression => refuse("WINDOW", e)
      case e: SubqueryExpression => refuse("SUBQUERY", e)
      case e: OuterReference => refuse("OUTER_REFERENCE", e)
      case e: Generator => refuse("GENERATOR", e)
      case e: PythonUDF => refuse("PYTHON_UDF", e)
      case _ =>
    }
    if (!term.deterministic) refuse("NONDETERMINISTIC", term.child)
    if (!RowOrdering.isOrderable(term.child.dataType)) {
      fail("ORDER_BY_TYPE", s"ORDER BY of LAST JOIN needs a type with an order, but ${term.child.sql} is of type " +
        s"${term.child.dataType.sql}.", term.child.origin)
    }
  }

  private def describe(kind: String): String = kind match {
    case "AGGREGATE" => "an aggregate function"
    case "WINDOW" => "a window function"
    case "SUBQUERY" => "a subquery"
    case "OUTER_REFERENCE" => "a column of an outer query"
    case "GENERATOR" => "a generator"
    case "PYTHON_UDF" => "a Python function"
    case "NONDETERMINISTIC" => "a non-deterministic expression"
  }

  private def checkCondition(condition: Expression): Unit = {
    if (!condition.deterministic) {
      fail("NONDETERMINISTIC_ON", s"ON of LAST JOIN must be deterministic, but it is ${condition.sql}.", condition.origin)
    }
    condition.foreach {
      case udf: PythonUDF =>
        fail("PYTHON_UDF_ON", s"ON of LAST JOIN cannot call the Python function ${udf.sql}; compute it in a column first.",
          udf.origin)
      case subquery: ScalarSubquery if !subquery.isCorrelated =>
      case subquery: SubqueryExpression =>
        fail("SUBQUERY_ON", "ON of LAST JOIN takes no subquery but an uncorrelated scalar one.", subquery.origin)
      case _ =>
    }
  }
}
