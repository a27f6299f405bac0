package io.github.sparkjoinery.planning

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.types.{BooleanType, DataType}

/**
 * Evaluates an expression that may raise an error, which ends here. To Spark it is a conditional expression, because
 * parts that two expressions have in common are computed ahead of both, where an error would end the query.
 */
sealed private[planning] trait Attempt extends UnaryExpression with ConditionalExpression {
  override def alwaysEvaluatedInputs: Seq[Expression] = Nil
  override def withNewAlwaysEvaluatedInputs(alwaysEvaluatedInputs: Seq[Expression]): Attempt = this
  override def branchGroups: Seq[Seq[Expression]] = Nil
}

/** The value, or NULL in place of an error. */
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

/** Whether it raises an error. */
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
