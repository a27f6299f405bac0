package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}

import io.github.sparkjoinery.lastjoin.logical.{LastJoin, LastJoinAsOf, LastJoinOrder, MarkedRight}
import io.github.sparkjoinery.planning.JoineryException.fail

/**
 * Rejects a LAST JOIN that has no meaning. Spark has checked it before as an ordinary join. Spark itself has thus
 * rejected unknown columns, ambiguous columns, an ON that is not boolean, and so on.
 */
object CheckLastJoin extends (LogicalPlan => Unit) {

  override def apply(plan: LogicalPlan): Unit =
    if (plan.containsPattern(LastJoin.Pattern)) plan.collectWithSubqueries { case node => check(node) }

  private def check(plan: LogicalPlan): Unit = plan match {
    case join @ Join(_, MarkedRight(mark), LeftOuter, _, _) =>
      val Join(left, right, _, condition, _) = ProjectHiddenColumnsAboveJoin.complete(join, mark)
      if (right.isStreaming) {
        fail(
          "STREAMING",
          "The right side of a LAST JOIN is a stream, but which of its rows is last is only known when all are. " +
            "The left side may be a stream. Write this one to a table and join that, or join in foreachBatch.",
          join.origin
        )
      }
      condition.foreach(checkCondition(_, Seq(left, right)))
    case join @ Join(_, MarkedRight(_), other, _, _) =>
      fail(
        "JOIN_TYPE",
        s"${LastJoinOrder.Name} marks the right side of a left join, but this is a join of type $other.",
        join.origin)
    case node =>
      node.expressions.foreach(_.foreach {
        case marker: LastJoinOrder =>
          fail(
            "MISPLACED_ORDER",
            s"${LastJoinOrder.Name} stands alone in the filter of a left join's right side: " +
              s"left.join(right.filter(${LastJoinOrder.Name}(...)), on, 'left'). Use last_join(), which writes it.",
            marker.origin
          )
        case marker: LastJoinAsOf =>
          fail(
            "MISPLACED_AS_OF",
            s"${LastJoinAsOf.Name} stands alone in the filter of a LAST JOIN's left side. " +
              "Use last_join(), which writes it.",
            marker.origin)
        case _ =>
      })
  }

  private def checkCondition(condition: Expression, sides: Seq[LogicalPlan]): Unit =
    ComputeBelowLastJoin.outOfReach(condition, sides).foreach {
      case udf: PythonUDF =>
        fail(
          "PYTHON_UDF_ON",
          s"A Python function in ON of LAST JOIN takes columns of one side, but ${udf.sql} takes some of both; " +
            "call it after the join.",
          udf.origin
        )
      case subquery =>
        fail(
          "SUBQUERY_ON",
          "ON of LAST JOIN takes uncorrelated subqueries, and correlated IN and EXISTS, and IN of several values, " +
            "over columns of one side.",
          subquery.origin
        )
    }
}
