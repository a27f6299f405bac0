package io.github.sparkjoinery.planning

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.NumericType

/**
 * Whether an expression may raise an error for some values, of its columns or on the way: whatever is not known never
 * to. `Expression.throwable` is no help, because arithmetic does not set it.
 */
object MayFail {

  def apply(expression: Expression): Boolean = expression.exists(!isSafe(_))

  /** Its own part, whatever its children do. */
  private def isSafe(expression: Expression): Boolean = expression match {
    case _: Attribute | _: Literal | _: BinaryComparison | _: In | _: InSet => true
    case _: And | _: Or | _: Not | _: IsNull | _: IsNotNull | _: Coalesce | _: If | _: CaseWhen => true
    case _: DateAdd | _: DateSub | _: DateDiff => true // they wrap around
    // not those of dates to timestamps, of which there are fewer days
    case cast: Cast => cast.child.dataType.isInstanceOf[NumericType] && cast.dataType.isInstanceOf[NumericType] &&
      Cast.canUpCast(cast.child.dataType, cast.dataType)
    case _ => false
  }

  /** NULL in place of an error, where the expression may raise one. */
  def orNull(expression: Expression): Expression = if (apply(expression)) ValueOrNull(expression) else expression

  /** Whether one of several expressions raises an error. */
  def anyOf(expressions: Seq[Expression]): Expression = expressions.filter(apply)
    // Mostly there is a value, and mostly it is wanted, too: then Spark computes it once for both.
    .map(expression => And(IsNull(ValueOrNull(expression)), RaisesError(expression)))
    .reduceOption[Expression](Or).getOrElse(Literal.FalseLiteral)
}
