package io.github.sparkjoinery.rangejoin.exec

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.optimizer.BuildRight
import org.apache.spark.sql.execution.CodegenSupport

import io.github.sparkjoinery.execution.MatchedColumns
import io.github.sparkjoinery.rangejoin.logical.{LeadingLong, SharedPrefix}
import io.github.sparkjoinery.rangejoin.runtime.FirstError

/** Generates code that finds the matches of a streamed row. Keys, bounds and condition are evaluated on variables. */
private[rangejoin] trait RangeSearchCodegen extends RangeJoinExec with CodegenSupport {

  /** Code that evaluates, once, the streamed columns that the search needs. */
  protected def evaluateSearched(streamedVars: Seq[ExprCode]): String = {
    val searched = terms.streamedKeys ++ terms.bounds.map(_.probe) ++ terms.residual
    evaluateRequiredVariables(streamedSide.output, streamedVars, AttributeSet(searched.flatMap(_.references)))
  }

  /** Code that makes the reader search the candidates of a streamed row. */
  protected def beginCode(ctx: CodegenContext, streamedVars: Seq[ExprCode], reader: String): String = {
    def onStreamed[T](generate: => T): T = {
      ctx.currentVars = streamedVars
      ctx.INPUT_ROW = null
      generate
    }
    def value(expression: Expression): ExprCode =
      onStreamed(BindReferences.bindReference(expression, streamedSide.output).genCode(ctx))
    val (key, keyIsNull) = terms.longKey match {
      case Some(long) =>
        val code = value(long)
        (code, code.isNull.toString)
      case None =>
        val keys = BindReferences.bindReferences(terms.streamedKeys, streamedSide.output)
        val row = onStreamed(GenerateUnsafeProjection.createCode(ctx, keys))
        (row, s"${row.value}.anyNull()")
    }
    val prefix = new SharedPrefix
    val longs = Seq(terms.lowerLong(prefix), terms.upperLong(prefix))
    val Seq(lower, upper) = longs.map(value)
    val number = ctx.freshName("number")
    val bounded = s"$reader.between($number, ${lower.value}, ${upper.value});"
    val reached = terms.reaches.foldLeft(bounded) { case (search, (term, reach)) =>
      val point = value(term)
      s"""
         |${point.code}
         |if (${point.isNull} || $reader.areWithin(${reach}L, ${point.value}, $number)) {
         |  $search
         |} else {
         |  $reader.all($number);
         |}
         |""".stripMargin
    }
    val setPrefix =
      if (!longs.exists(_.exists(_.isInstanceOf[LeadingLong]))) ""
      else s"${ctx.addReferenceObj("prefix", prefix, classOf[SharedPrefix].getName)}.set($reader.prefix());"
    val between =
      s"""
         |$setPrefix
         |${lower.code}
         |${upper.code}
         |if (!${lower.isNull} && !${upper.isNull}) {
         |  $reached
         |}
         |""".stripMargin
    // Spark's joins do not evaluate keys if the other side has no rows.
    s"""
       |$reader.none();
       |if (!$reader.isEmpty()) {
       |  ${key.code}
       |  if (!$keyIsNull) {
       |    int $number = $reader.numberOf(${key.value});
       |    if ($number >= 0) {
       |      $between
       |    }
       |  }
       |}
       |""".stripMargin
  }

  /**
   * Code that skips a candidate by `continue` if it does not match. It evaluates those of the candidate's columns that
   * the condition needs.
   */
  protected def conditionCode(
      ctx: CodegenContext,
      streamedVars: Seq[ExprCode],
      indexedVars: Seq[ExprCode]): String =
    terms.residual.map { condition =>
      val columns = evaluateRequiredVariables(indexed.output, indexedVars, condition.references)
      ctx.currentVars = streamedVars ++ indexedVars
      ctx.INPUT_ROW = null
      val passes = BindReferences.bindReference(condition, streamedSide.output ++ indexed.output).genCode(ctx)
      s"""
         |$columns
         |${passes.code}
         |if (${passes.isNull} || !${passes.value}) continue;
         |""".stripMargin
    }.getOrElse("")

  /**
   * Code that searches until it finds a match; see [[FirstError]].
   *
   * @param found
   *   the name of a variable that is true if there is a match
   * @param onFound
   *   code that runs once there is a match
   * @param onMissed
   *   code that runs if there is none, for the name of the [[FirstError]]
   */
  protected def untilFound(
      ctx: CodegenContext,
      streamedVars: Seq[ExprCode],
      reader: String,
      found: String,
      onFound: String = "",
      onMissed: String => String = errors => s"$errors.raise();"): String = {
    val Seq(place, matched) = Seq("place", "matched").map(ctx.freshName)
    val condition = conditionCode(ctx, streamedVars, MatchedColumns.generate(ctx, matched, indexed.output))
    val ofErrors = classOf[FirstError].getName
    val errors = ctx.addMutableState(ofErrors, "errors", name => s"$name = new $ofErrors();")
    s"""
       |int $place = 0;
       |$errors.clear();
       |while (!$found && ($place = $reader.next()) >= 0) {
       |  UnsafeRow $matched = $reader.row($place);
       |  ${deferring(ctx, condition, error => s"$errors.add($error);")}
       |  $found = true;
       |  $onFound
       |}
       |if (!$found) ${onMissed(errors)}
       |""".stripMargin
  }

  /**
   * Code that adds the places of all matches to a set.
   *
   * @param places
   *   the name of the [[MatchedRows]]
   */
  protected def markMatches(
      ctx: CodegenContext,
      streamedVars: Seq[ExprCode],
      reader: String,
      places: String): String = {
    val Seq(place, matched) = Seq("place", "matched").map(ctx.freshName)
    val condition = conditionCode(ctx, streamedVars, MatchedColumns.generate(ctx, matched, indexed.output))
    s"""
       |int $place = 0;
       |while (($place = $reader.next()) >= 0) {
       |  if ($places.contains($place)) continue;
       |  UnsafeRow $matched = $reader.row($place);
       |  ${deferring(ctx, condition, error => s"$places.fail($place, $error);")}
       |  $places.add($place);
       |}
       |""".stripMargin
  }

  /** The code of a condition. A candidate that fails is skipped by `continue`. */
  private def deferring(ctx: CodegenContext, condition: String, onError: String => String): String =
    if (condition.isEmpty) ""
    else {
      val error = ctx.freshName("error")
      s"""
         |try {
         |  $condition
         |} catch (Exception $error) {
         |  ${onError(error)}
         |  continue;
         |}
         |""".stripMargin
    }

  protected def sided(streamedVars: Seq[ExprCode], indexedVars: Seq[ExprCode]): Seq[ExprCode] =
    if (indexedSide == BuildRight) streamedVars ++ indexedVars else indexedVars ++ streamedVars
}
