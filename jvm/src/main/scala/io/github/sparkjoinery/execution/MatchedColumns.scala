package io.github.sparkjoinery.execution

import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.{Attribute, BoundReference}

/** Generates code that reads the columns of a matched row. */
private[sparkjoinery] object MatchedColumns {

  /** @param row the row's variable */
  def generate(ctx: CodegenContext, row: String, output: Seq[Attribute]): Seq[ExprCode] = {
    ctx.currentVars = null
    ctx.INPUT_ROW = row
    output.zipWithIndex.map { case (attribute, i) =>
      BoundReference(i, attribute.dataType, attribute.nullable).genCode(ctx)
    }
  }

  /** @param row the row's variable; if it is null at run time, all columns are NULL */
  def orNulls(ctx: CodegenContext, row: String, output: Seq[Attribute]): Seq[ExprCode] =
    output.zip(generate(ctx, row, output)).map { case (attribute, column) =>
      val isNull = ctx.freshName("isNull")
      val value = ctx.freshName("value")
      val javaType = CodeGenerator.javaType(attribute.dataType)
      val code = code"""
         |boolean $isNull = true;
         |$javaType $value = ${CodeGenerator.defaultValue(attribute.dataType)};
         |if ($row != null) {
         |  ${column.code}
         |  $isNull = ${column.isNull};
         |  $value = ${column.value};
         |}
         |""".stripMargin
      ExprCode(code, JavaCode.isNullVariable(isNull), JavaCode.variable(value, attribute.dataType))
    }
}
