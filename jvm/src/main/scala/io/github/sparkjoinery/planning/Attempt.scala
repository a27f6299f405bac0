package io.github.sparkjoinery.planning

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.types.{BooleanType, DataType}

/**
 * Catches the errors of its child. It is a `ConditionalExpression`, so that subexpression elimination does not move the
 * child out of the try block.
 */
sealed private[planning] trait Attempt extends UnaryExpression with ConditionalExpression {
  override def alwaysEvaluatedInputs: Seq[Expression] = Nil
  override def withNewAlwaysEvaluatedInputs(alwaysEvaluatedInputs: Seq[Expression]): Attempt = this
  override def branchGroups: Seq[Seq[Expression]] = Nil
}

/** Returns the child's value, or NULL if the child throws. */
case class ValueOrNull(child: Expression) extends Attempt {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = true

  override def eval(input: InternalRow): Any =
    try child.eval(input)
    catch { case _: Exception => null }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val value = child.genCode(ctx)
    ev.copy(code = code"""
      boolean ${ev.isNull} = true;
      ${CodeGenerator.javaType(dataType)} ${ev.value} = ${CodeGenerator.defaultValue(dataType)};
      try {
        ${value.code}
        ${ev.isNull} = ${value.isNull};
        ${ev.value} = ${value.value};
      } catch (Exception e) {
      }""")
  }

  override protected def withNewChildInternal(newChild: Expression): ValueOrNull = copy(child = newChild)
}

/** Returns true if the child throws. */
case class RaisesError(child: Expression) extends Attempt {
  override def dataType: DataType = BooleanType
  override def nullable: Boolean = false

  override def eval(input: InternalRow): Any =
    try { child.eval(input); false }
    catch { case _: Exception => true }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val value = child.genCode(ctx)
    ev.copy(
      code = code"""
      boolean ${ev.value} = false;
      try {
        ${value.code}
      } catch (Exception e) {
        ${ev.value} = true;
      }""",
      isNull = FalseLiteral
    )
  }

  override protected def withNewChildInternal(newChild: Expression): RaisesError = copy(child = newChild)
}
