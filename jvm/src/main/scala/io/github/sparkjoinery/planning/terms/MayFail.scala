package io.github.sparkjoinery.planning.terms

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, Window}
import org.apache.spark.sql.types.{DoubleType, NumericType}

import io.github.sparkjoinery.planning.plans.SomeRowsOfKeys

/**
 * True unless every node of the expression is on the list of expressions that cannot throw. `Expression.throwable` is
 * not enough: arithmetic does not set it.
 */
object MayFail {

  def apply(expression: Expression): Boolean = expression.exists(!isSafe(_))

  /** True if the expression itself cannot throw. Its children are tested separately. */
  private def isSafe(expression: Expression): Boolean = expression match {
    case _: Attribute | _: BoundReference | _: Literal | _: BinaryComparison | _: In | _: InSet => true
    case _: And | _: Or | _: Not | _: IsNull | _: IsNotNull | _: Coalesce | _: If | _: CaseWhen => true
    case _: GetStructField => true
    case _: DateAdd | _: DateSub | _: DateDiff => true // they wrap around
    // Casts of dates to timestamps may throw, because timestamps cover fewer days.
    case cast: Cast => cast.child.dataType.isInstanceOf[NumericType] && cast.dataType.isInstanceOf[NumericType] &&
      Cast.canUpCast(cast.child.dataType, cast.dataType)
    case _: Alias | _: AggregateExpression | _: Count | _: Min | _: Max | _: First | _: Last => true
    case Sum(child, _) => child.dataType == DoubleType
    case Average(child, _) => child.dataType == DoubleType
    case _: SortOrder | _: WindowExpression | _: WindowSpecDefinition | _: WindowFrame | _: SpecialFrameBoundary => true
    case _: RowNumber | _: RankLike | _: FrameLessOffsetWindowFunction => true
    case _ => false
  }

  /**
   * True if a plan may throw when it reads some rows of a key and not the others. Aggregates and windows then have
   * other values.
   */
  def onPartialKeys(plan: LogicalPlan): Boolean = {
    val isOfGroups = plan.exists {
      case _: Aggregate | _: Window | _: SomeRowsOfKeys => true
      case _ => false
    }
    isOfGroups && plan.exists(_.expressions.exists(apply))
  }
}
