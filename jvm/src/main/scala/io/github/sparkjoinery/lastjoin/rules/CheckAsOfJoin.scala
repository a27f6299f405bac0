package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.analysis._
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.catalyst.util.toPrettySQL
import org.apache.spark.sql.types._

import io.github.sparkjoinery.lastjoin.logical.{AsOfComparison, AsOfMatch, AsOfRight, LastJoin}
import io.github.sparkjoinery.planning.JoineryException

/**
 * Rejects an ASOF JOIN that has no meaning. It is a post-hoc resolution rule and not a check, so that its errors come
 * before Spark's. Spark's errors would describe an ordinary join.
 */
object CheckAsOfJoin extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    if (plan.containsPattern(LastJoin.Pattern)) plan.foreach {
      case join @ Join(left, AsOfRight(right, AsOfRight.Ready), _, Some(condition: AsOfMatch), _)
          if join.childrenResolved =>
        checkSides(left, right, join.origin)
        checkMatch(condition, left, right)
        condition.on.filter(_.resolved).foreach { on =>
          checkType(on, join)
          splitConjunctivePredicates(on).foreach(checkOn(_, Seq(left, right)))
        }
      case _ =>
    }
    plan
  }

  private def checkSides(left: LogicalPlan, right: LogicalPlan, origin: Origin): Unit = {
    if (right.isStreaming) {
      reject(
        "STREAMING",
        "The right side of an ASOF JOIN is a stream, but which of its rows is nearest is only known when all are. " +
          "The left side may be a stream. Write this one to a table and join that, or join in foreachBatch.",
        origin
      )
    }
    if (SubExprUtils.hasOuterReferences(left) || SubExprUtils.hasOuterReferences(right)) {
      reject(
        "CORRELATED",
        "A side of an ASOF JOIN in a subquery refers to a column of the outer query, which is not supported. " +
          "Move that condition to WHERE, after the join, if it is about the left side.",
        origin
      )
    }
  }

  private def checkMatch(condition: AsOfMatch, left: LogicalPlan, right: LogicalPlan): Unit = {
    val comparison = condition.comparison
    val origin = condition.origin
    def text = comparison.sql
    if (!AsOfComparison.isAsOf(comparison)) {
      reject(
        "OPERATOR",
        s"MATCH_CONDITION is one comparison by >=, >, <= or <, but here it is $text. Further conditions belong " +
          "into ON.",
        origin)
    }
    if (comparison.children.forall(_.resolved)) {
      comparison.children.foreach(_.foreach(operand =>
        notAllowed(operand).foreach(what =>
          reject(
            "OPERAND",
            s"An operand of MATCH_CONDITION is an expression over columns, not $what: ${operand.sql}.",
            operand.origin))))
      comparison.children.filterNot(_.deterministic).foreach(operand =>
        reject(
          "OPERAND",
          s"An operand of MATCH_CONDITION must be deterministic, but it is ${operand.sql}.",
          operand.origin))
      val types =
        (if (condition.operands.forall(_.resolved)) condition.operands else comparison.children).map(_.dataType)
      if (!comparison.resolved || !types.forall(RowOrdering.isOrderable) || !areComparable(types.head, types.last)) {
        reject(
          "OPERAND_TYPE",
          "The operands of MATCH_CONDITION must be of one type that can be sorted, but they are " +
            s"${types.map(_.sql).mkString(" and ")}: $text.",
          origin
        )
      }
      if (AsOfComparison.find(comparison, condition.operands, left, right).isEmpty) {
        reject(
          "OPERAND_SIDE",
          "One operand of MATCH_CONDITION is over columns of the left side, the other over columns of the " +
            s"right side, but here it is $text.",
          origin
        )
      }
    }
  }

  /**
   * True if Spark 4.3 compares these types. It compares a string with strings and numbers only; other casts of a string
   * fail for most values.
   */
  private def areComparable(a: DataType, b: DataType): Boolean = (a, b) match {
    case (_: StringType, other) => isTextOrNumber(other)
    case (other, _: StringType) => isTextOrNumber(other)
    case (ArrayType(a, _), ArrayType(b, _)) => areComparable(a, b)
    case (StructType(a), StructType(b)) => a.zip(b).forall { case (x, y) => areComparable(x.dataType, y.dataType) }
    case _ => true
  }

  private def isTextOrNumber(dataType: DataType): Boolean = dataType match {
    case DateType | TimestampType | TimestampNTZType | BooleanType | BinaryType => false
    case _ => true
  }

  private def checkType(condition: Expression, join: Join): Unit =
    if (condition.dataType != BooleanType) {
      join.failAnalysis(
        "JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE",
        Map(
          "joinCondition" -> ("\"" + toPrettySQL(condition) + "\""),
          "conditionType" -> ("\"" + condition.dataType.sql + "\"")))
    }

  private def checkOn(condition: Expression, sides: Seq[LogicalPlan]): Unit = {
    ComputeBelowLastJoin.outOfReach(condition, sides).foreach {
      case udf: PythonUDF =>
        reject(
          "ON",
          s"A Python function in ON of ASOF JOIN takes columns of one side, but ${udf.sql} takes some of both; " +
            "call it after the join.",
          udf.origin)
      case subquery =>
        reject(
          "ON",
          "ON of ASOF JOIN takes uncorrelated subqueries, and correlated IN and EXISTS, and IN of several values, " +
            "over columns of one side.",
          subquery.origin
        )
    }
    condition.collectFirst { case outer: OuterReference => outer }.foreach(outer =>
      reject("ON", s"ON of ASOF JOIN cannot refer to a column of an outer query: ${outer.sql}.", condition.origin))
    if (!condition.deterministic)
      reject("ON", s"ON of ASOF JOIN must be deterministic, but it is ${condition.sql}.", condition.origin)
  }

  private def notAllowed(operand: Expression): Option[String] = operand match {
    case _: AggregateExpression => Some("an aggregate function")
    case _: WindowExpression => Some("a window function")
    case _: SubqueryExpression => Some("a subquery")
    case _: OuterReference => Some("a column of an outer query")
    case _ => None
  }

  private def reject(condition: String, text: String, origin: Origin): Nothing =
    throw new JoineryException(condition, text, origin, "ASOF_JOIN")
}
