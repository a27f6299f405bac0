package io.github.sparkjoinery.lastjoin.exec

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._

import io.github.sparkjoinery.planning.terms.MayFail

/**
 * Generated code that searches `GroupedRows`. It evaluates keys, times and conditions on variables and builds no rows
 * for them.
 */
private[lastjoin] trait GroupedRowsCodegen { self: LastJoinExec =>

  /** Code that evaluates the left columns of the search once. */
  protected def evaluateSearched(leftVars: Seq[ExprCode]): String = {
    val searched = terms.leftKeys ++ terms.asOf ++ terms.within ++ terms.residual
    evaluateRequiredVariables(left.output, leftVars, AttributeSet(searched.flatMap(_.references)))
  }

  /**
   * Code that finds the match of a left row. [[evaluateSearched]] has evaluated the row's variables before.
   *
   * @param reader
   *   name of a `GroupedRowsReader`
   * @param matched
   *   name of the variable to set; it is null before
   */
  protected def searchCode(ctx: CodegenContext, leftVars: Seq[ExprCode], reader: String, matched: String): String = {
    def onLeft[T](generate: => T): T = {
      ctx.currentVars = leftVars
      ctx.INPUT_ROW = null
      generate
    }
    def long(expression: Expression): ExprCode =
      onLeft(BindReferences.bindReference(expression, left.output).genCode(ctx))
    def row(expressions: Seq[Expression]): (ExprCode, String) = {
      val row =
        onLeft(GenerateUnsafeProjection.createCode(ctx, BindReferences.bindReferences(expressions, left.output)))
      (row, s"${row.value}.anyNull()")
    }
    def longOrRow(longs: Option[Expression], rows: Seq[Expression]): (ExprCode, String) =
      longs.map(long).map(code => (code, code.isNull.toString)).getOrElse(row(rows))

    val group = ctx.freshName("group")
    val place = ctx.freshName("place")
    val (key, keyIsNull) = longOrRow(terms.leftLongKey, terms.leftKeys)
    val search = candidatesCode(ctx, leftVars, reader, matched, s"$reader.first($group)", place)
    val searchFromLast = terms.asOf match {
      case None =>
        s"""
           |int $place = $reader.last($group);
           |$search
           |""".stripMargin
      case Some(asOf) =>
        val (time, timeIsNull) = longOrRow(terms.leftLongTime, Seq(asOf))
        val findPlace = s"${time.code}\n$place = $timeIsNull ? -1 : $reader.lastUpTo($group, ${time.value});"
        val catchesError = terms.leftLongTime.isEmpty && MayFail(asOf)
        s"""
           |int $place = $reader.last($group);
           |${if (catchesError) s"try {\n$findPlace\n} catch (Exception e) {}" else findPlace}
           |$search
           |""".stripMargin
    }
    s"""
       |${key.code}
       |if (!$keyIsNull) {
       |  int $group = $reader.group(${key.value});
       |  if ($group >= 0) {
       |    $searchFromLast
       |  }
       |}
       |""".stripMargin
  }

  /**
   * Code that tests candidates from the last backwards until one passes.
   *
   * @param first
   *   code for the position of the first candidate
   * @param place
   *   name of the variable with the position of the last candidate
   */
  protected def candidatesCode(
      ctx: CodegenContext,
      leftVars: Seq[ExprCode],
      reader: String,
      matched: String,
      first: String,
      place: String): String = {
    val tried = metricTerm(ctx, "candidatesTried")
    if (!terms.hasConditions) {
      return s"""
         |if ($place >= $first) {
         |  $matched = $reader.row($place);
         |  $tried.add(1);
         |}
         |""".stripMargin
    }
    val candidate = ctx.freshName("candidate")
    ctx.currentVars = null
    ctx.INPUT_ROW = candidate
    val candidateVars = right.output.zipWithIndex.map { case (attribute, i) =>
      BoundReference(i, attribute.dataType, attribute.nullable).genCode(ctx)
    }
    val conditions = AttributeSet((terms.within ++ terms.residual).flatMap(_.references))
    val columns = evaluateRequiredVariables(right.output, candidateVars, conditions)
    def check(condition: Option[Expression])(unless: ExprCode => String): String = condition.map { condition =>
      ctx.currentVars = leftVars ++ candidateVars
      ctx.INPUT_ROW = null
      val answer = BindReferences.bindReference(condition, left.output ++ right.output).genCode(ctx)
      s"${answer.code}\n${unless(answer)}"
    }.getOrElse("")
    val checks = check(terms.within)(near => s"if (${near.isNull}) continue;\nif (!${near.value}) break;") +
      check(terms.residual)(passes => s"if (${passes.isNull} || !${passes.value}) continue;")
    val firstPlace = ctx.freshName("first")
    s"""
       |int $firstPlace = $first;
       |for (; $place >= $firstPlace; $place--) {
       |  UnsafeRow $candidate = $reader.row($place);
       |  $tried.add(1);
       |  $columns
       |  $checks
       |  $matched = $candidate;
       |  break;
       |}
       |""".stripMargin
  }
}
