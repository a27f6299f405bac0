package io.github.sparkjoinery.rangejoin.exec

import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.types.BooleanType

import io.github.sparkjoinery.execution.{ChildrenInOwnStages, MatchedColumns}
import io.github.sparkjoinery.rangejoin.runtime.{ShuffledRangeTask, ShuffledRangeTaskFactory}

/**
 * Generates the code of [[ShuffledRangeJoinExec]], which drives a [[ShuffledRangeTask]]. The code may stop after each
 * row that it emits, and goes on later with the next match of the same streamed row. Rows need not be copied, even if a
 * streamed row has many matches, and a LIMIT ends the search.
 */
private[rangejoin] trait ShuffledRangeCodegen extends RangeSearchCodegen with ChildrenInOwnStages {

  /** The factory of tasks, which is sent to the executors. */
  protected def taskFactory: ShuffledRangeTaskFactory

  override def supportCodegen: Boolean = true
  override def needCopyResult: Boolean = false
  override protected def canCheckLimitNotReached: Boolean = true

  override protected def doProduce(ctx: CodegenContext): String = {
    val factory = ctx.addReferenceObj("rangeJoin", taskFactory)
    val task = ctx.addMutableState(
      classOf[ShuffledRangeTask].getName,
      "task",
      name => s"$name = $factory.start(inputs[0], inputs[1]);",
      forceInline = true)
    val streamedRow = ctx.freshName("streamedRow")
    val join = rangeJoin
    val streamedVars =
      if (join.givesOutIndexed && join.givesPairs) MatchedColumns.orNulls(ctx, streamedRow, streamedSide.output)
      else MatchedColumns.generate(ctx, streamedRow, streamedSide.output)
    val search = new Search(ctx, task, streamedRow, streamedVars)
    s"""
       |while ($limitNotReachedCond ($task.isOpen() || $task.advance())) {
       |  InternalRow $streamedRow = $task.row();
       |  ${if (!join.givesOutIndexed) search.ofStreamed else if (join.givesPairs) search.ofBoth else search.ofIndexed}
       |}
       |""".stripMargin
  }

  private class Search(ctx: CodegenContext, task: String, streamedRow: String, streamedVars: Seq[ExprCode]) {
    private val reader = s"$task.reader()"
    private val (place, matched) = (ctx.freshName("place"), ctx.freshName("matched"))
    private val candidates = s"${metricTerm(ctx, "candidates")}.add($reader.candidates());"

    private def begun: String = s"""
       |${evaluateSearched(streamedVars)}
       |if ($task.begins()) {
       |  ${metricTerm(ctx, "probes")}.add(1);
       |  ${beginCode(ctx, streamedVars, reader)}
       |}
       |""".stripMargin

    private def indexedVars: Seq[ExprCode] = MatchedColumns.generate(ctx, matched, indexed.output)
    private def condition: String = conditionCode(ctx, streamedVars, indexedVars)

    private def given(vars: Seq[ExprCode]): String = s"""
       |${metricTerm(ctx, "numOutputRows")}.add(1);
       |${consume(ctx, vars)}
       |$shouldStopCheckCode
       |""".stripMargin

    def ofStreamed: String = joinType match {
      case _: InnerLike => inner
      case LeftOuter | RightOuter => outer
      case _ => existence
    }

    private def inner: String = {
      val vars = indexedVars
      s"""
         |$begun
         |int $place = 0;
         |while ($limitNotReachedCond ($place = $reader.next()) >= 0) {
         |  UnsafeRow $matched = $reader.row($place);
         |  ${conditionCode(ctx, streamedVars, vars)}
         |  ${given(sided(streamedVars, vars))}
         |}
         |$candidates
         |$task.close();
         |""".stripMargin
    }

    /** Emits each match. A streamed row without a match passes the loop once more and is emitted with NULLs. */
    private def outer: String = s"""
       |$begun
       |int $place = 0;
       |while ($limitNotReachedCond $place >= 0) {
       |  $place = $reader.next();
       |  UnsafeRow $matched = null;
       |  if ($place >= 0) {
       |    $matched = $reader.row($place);
       |    $condition
       |  } else if (!$task.isUnmatched()) {
       |    break;
       |  }
       |  $task.find();
       |  ${given(sided(streamedVars, MatchedColumns.orNulls(ctx, matched, indexed.output)))}
       |}
       |$candidates
       |$task.close();
       |""".stripMargin

    private def existence: String = {
      val exists = ctx.freshName("exists")
      val (isGiven, vars) = joinType match {
        case LeftSemi => (exists, streamedVars)
        case LeftAnti => (s"$task.isUnmatched()", streamedVars)
        case _ => (s"$task.isLast()", streamedVars :+ flag(exists))
      }
      s"""
         |$begun
         |boolean $exists = $task.isFound();
         |${untilFound(ctx, streamedVars, reader, exists, s"$task.find();", errors => s"$task.miss($errors);")}
         |$candidates
         |$task.close();
         |if ($isGiven) {
         |  ${given(vars)}
         |}
         |""".stripMargin
    }

    /** Emits pairs, and after the last streamed row of a part the indexed rows of that part without a match. */
    def ofBoth: String = s"""
       |$begun
       |int $place = 0;
       |while ($limitNotReachedCond $place >= 0) {
       |  UnsafeRow $matched = null;
       |  if ($streamedRow == null) {
       |    $matched = $task.nextIndexed();
       |    if ($matched == null) break;
       |  } else {
       |    $place = $reader.next();
       |    if ($place >= 0) {
       |      $matched = $reader.row($place);
       |      $condition
       |      $task.matched().add($place);
       |    } else if (${if (joinType == FullOuter) s"!$task.isUnmatched()" else "true"}) {
       |      break;
       |    }
       |    $task.find();
       |  }
       |  ${given(sided(streamedVars, MatchedColumns.orNulls(ctx, matched, indexed.output)))}
       |}
       |$candidates
       |$task.close();
       |""".stripMargin

    /** Marks the matches of all streamed rows in a part, then emits the indexed rows of that part. */
    def ofIndexed: String = {
      val mark = s"""
         |$begun
         |${markMatches(ctx, streamedVars, reader, s"$task.matched()")}
         |$candidates
         |""".stripMargin
      val (exists, vars) = joinType match {
        case _: ExistenceJoin =>
          val exists = ctx.freshName("exists")
          (s"boolean $exists = $task.isIndexedMatched();", indexedVars :+ flag(exists))
        case _ => ("", indexedVars)
      }
      s"""
         |if ($streamedRow != null) {
         |  $mark
         |} else {
         |  UnsafeRow $matched = null;
         |  while ($limitNotReachedCond ($matched = $task.nextIndexed()) != null) {
         |    $exists
         |    ${given(vars)}
         |  }
         |}
         |$task.close();
         |""".stripMargin
    }

    private def flag(exists: String): ExprCode = ExprCode(FalseLiteral, JavaCode.variable(exists, BooleanType))
  }
}
