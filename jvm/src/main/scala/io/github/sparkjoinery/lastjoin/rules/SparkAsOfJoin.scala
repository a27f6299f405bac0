package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical.AsOfJoin
import org.apache.spark.sql.types._

import io.github.sparkjoinery.lastjoin.logical.AsOfComparison
import io.github.sparkjoinery.planning.terms.Monotone

/** Translates Spark's own logical as-of join, from `DataFrame._joinAsOf` or pandas-on-Spark's `merge_asof`. */
object SparkAsOfJoin extends PredicateHelper {

  /**
   * Returns the comparison of the join, or the reason why Spark keeps the join. A tolerance is a second comparison in
   * `asOfCondition`, after that one.
   */
  def comparison(join: AsOfJoin): Either[String, AsOfComparison] = {
    val conditions = join.asOfCondition +: join.condition.toSeq
    lazy val sides = {
      val comparison = splitConjunctivePredicates(join.asOfCondition).head
      AsOfComparison.find(comparison, comparison.children, join.left, join.right)
    }
    if (join.orderExpression.isInstanceOf[If]) {
      Left("an as-of join in direction nearest: Joinery looks backwards or forwards only")
    } else if (join.right.isStreaming) {
      Left("an as-of join whose right side is a stream")
    } else if (!conditions.forall(_.deterministic)) {
      Left("an as-of join on a condition that is not deterministic")
    } else if (conditions.exists(_.exists(isOfAnotherPlan))) {
      Left("an as-of join on a condition with a subquery, an outer column or a Python function")
    } else if (SubExprUtils.hasOuterReferences(join.left) || SubExprUtils.hasOuterReferences(join.right)) {
      Left("an as-of join with a side that refers to an outer query")
    } else if (zoneOfLocalTime(join.orderExpression).isDefined) {
      Left(s"an as-of join by TIMESTAMPs in ${zoneOfLocalTime(join.orderExpression).get}, whose clocks are set back: " +
        "Spark compares local times")
    } else {
      sides.filter(known => isMeasured(known.left) && isMeasured(known.right))
        .toRight(
          "an as-of join by operands that are not a number or time of each side, which Spark may sort in another order")
    }
  }

  private def isOfAnotherPlan(expression: Expression): Boolean = expression match {
    case _: SubqueryExpression | _: OuterReference | _: PythonUDF => true
    case _ => false
  }

  /**
   * Returns the time zone of a difference of local times, unless its clocks are never set back. Spark subtracts
   * TIMESTAMPs in local time. When an hour repeats, a later row may seem further away. The difference keeps the time
   * zone of its analysis; the session may have another by now. A TIMESTAMP cast to TIMESTAMP_NTZ is local time, too.
   */
  private def zoneOfLocalTime(order: Expression): Option[String] = order.collectFirst {
    case difference: SubtractTimestamps if !Monotone.evenly(difference.left.dataType, difference.timeZoneId) =>
      difference.timeZoneId
    case cast: Cast
        if cast.child.dataType == TimestampType && cast.dataType == TimestampNTZType &&
          !Monotone.evenly(TimestampType, cast.timeZoneId) => cast.timeZoneId
  }.map(_.getOrElse("no time zone"))

  /**
   * True for numbers and times. Spark takes the row with the least difference of the two operands, which for these
   * types is the row nearest by value.
   */
  private def isMeasured(operand: Expression): Boolean = operand match {
    case cast: Cast => isMeasured(cast.dataType) && isMeasured(cast.child)
    case other => isMeasured(other.dataType)
  }

  private def isMeasured(dataType: DataType): Boolean = dataType match {
    case _: NumericType | DateType | TimestampType | TimestampNTZType | _: YearMonthIntervalType | _: DayTimeIntervalType =>
      true
    case _ => false
  }
}
