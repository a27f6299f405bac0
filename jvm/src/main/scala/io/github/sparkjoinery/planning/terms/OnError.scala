package io.github.sparkjoinery.planning.terms

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode}
import org.apache.spark.sql.types.DataType

/**
 * The value of an expression, or a default where the expression raises an error. Joinery evaluates some expressions
 * earlier than Spark does; the default makes the row a candidate, and the user's condition raises the error. Spark does
 * not compute parts of a conditional expression ahead of it, where an error would end the query.
 */
case class OnError(child: Expression, default: Literal) extends UnaryExpression with ConditionalExpression {
  override def alwaysEvaluatedInputs: Seq[Expression] = Nil
  def withNewAlwaysEvaluatedInputs(alwaysEvaluatedInputs: Seq[Expression]): OnError = this
  override def branchGroups: Seq[Seq[Expression]] = Nil
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable || default.nullable
  override def sql: String = child.sql

  override def eval(input: InternalRow): Any =
    try child.eval(input)
    catch { case _: Exception => default.value }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val (value, other) = (child.genCode(ctx), default.genCode(ctx))
    ev.copy(code = code"""
      boolean ${ev.isNull};
      ${CodeGenerator.javaType(dataType)} ${ev.value};
      ${other.code}
      try {
        ${value.code}
        ${ev.isNull} = ${value.isNull};
        ${ev.value} = ${value.value};
      } catch (Exception e) {
        ${ev.isNull} = ${other.isNull};
        ${ev.value} = ${other.value};
      }""")
  }

  override protected def withNewChildInternal(newChild: Expression): OnError = copy(child = newChild)
}

object OnError {

  /** The expression, with a default only if it may raise an error. */
  def orElse(expression: Expression, default: Any): Expression =
    if (MayFail(expression)) OnError(expression, Literal.create(default, expression.dataType)) else expression
}
