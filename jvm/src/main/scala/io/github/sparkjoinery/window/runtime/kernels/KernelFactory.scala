package io.github.sparkjoinery.window.runtime.kernels

import org.apache.spark.sql.catalyst.expressions.{Attribute, Or, Predicate, SpecificInternalRow}
import org.apache.spark.sql.types.DataType

import io.github.sparkjoinery.window.logical.program.{FrameProgram, FunctionProgram}
import io.github.sparkjoinery.window.runtime.frames.{FieldColumn, FrameColumns, NumberColumn, ResultColumn}
import io.github.sparkjoinery.window.runtime.rows.RowCursor

/**
 * Creates the kernels of a frame's functions: one for all sums of a column, one for each min and max, and one for all
 * others together.
 *
 * @param results
 *   the result types, by number of the function
 * @param columns
 *   the columns of the partition; null if they are not kept and no function needs them
 * @param cursor
 *   opens a cursor on the rows of the partition
 * @param batch
 *   the largest number of rows in a batch
 */
private[window] class KernelFactory(
    output: Seq[Attribute],
    results: Seq[DataType],
    columns: FrameColumns,
    cursor: Int => RowCursor,
    batch: Int) {
  import FunctionProgram._

  /** The result column of each function, by its number. */
  val resultColumns = new Array[ResultColumn](results.length)

  def choose(frame: FrameProgram): Seq[Kernel] = {
    val functions = frame.functions
    longSums(functions) ++ doubleSums(functions) ++ extremes(functions) ++
      merged(functions.collect { case merged: Merged => merged }) ++
      growing(functions.collect { case growing: Growing => growing }) ++
      offsets(functions.collect { case offset: Offset => offset })
  }

  private def longSums(functions: Seq[FunctionProgram]): Seq[Kernel] = {
    val counts = functions.collect { case function: Count => function.input -> function }
    val sums = functions.collect { case function: LongSum => function.input -> function }
    val averages = functions.collect { case function: LongAverage => function.input -> function }
    rounds(counts, sums, averages).map { case (input, count, sum, average) =>
      new LongSumKernel(columns, input, numbers(count), numbers(sum), numbers(average), sum.flatMap(_.overflow).orNull)
    }
  }

  private def doubleSums(functions: Seq[FunctionProgram]): Seq[Kernel] = {
    val sums = functions.collect { case function: DoubleSum => function.input -> function }
    val averages = functions.collect { case function: DoubleAverage => function.input -> function }
    rounds(Nil, sums, averages).map { case (input, _, sum, average) =>
      new DoubleSumKernel(columns, input, numbers(sum), numbers(average))
    }
  }

  /** Combines functions of the same column, with at most one function of each kind per combination. */
  private def rounds[A <: FunctionProgram, B <: FunctionProgram, C <: FunctionProgram](
      as: Seq[(Int, A)],
      bs: Seq[(Int, B)],
      cs: Seq[(Int, C)]): Seq[(Int, Option[A], Option[B], Option[C])] =
    (as.map(_._1) ++ bs.map(_._1) ++ cs.map(_._1)).distinct.flatMap { input =>
      def ofInput[F](functions: Seq[(Int, F)]): Seq[Option[F]] = functions.collect { case (`input`, function) =>
        Some(function)
      }
      val (a, b, c) = (ofInput(as), ofInput(bs), ofInput(cs))
      (0 until Seq(a, b, c).map(_.length).max).map(i =>
        (input, a.lift(i).flatten, b.lift(i).flatten, c.lift(i).flatten))
    }

  private def extremes(functions: Seq[FunctionProgram]): Seq[Kernel] = functions.collect {
    case function @ Extreme(input, isMax, true, _) =>
      new DoubleExtremeKernel(columns, input, isMax, numbers(Some(function)))
    case function @ Extreme(input, isMax, false, _) =>
      new LongExtremeKernel(columns, input, isMax, numbers(Some(function)))
  }

  private def merged(functions: Seq[Merged]): Seq[Kernel] = if (functions.isEmpty) Nil
  else {
    val evaluator = new AggregateEvaluator(functions.map(_.function), output, mergeable = true)
    val extreme = functions.flatMap(_.extreme).reduceOption(Or(_, _)).map(Predicate.create(_, output)).orNull
    Seq(new MergeKernel(evaluator, extreme, cursor, fields(functions, evaluator.newResult())))
  }

  private def growing(functions: Seq[Growing]): Seq[Kernel] = if (functions.isEmpty) Nil
  else {
    val evaluator = new AggregateEvaluator(functions.map(_.function), output, mergeable = false)
    Seq(new GrowingFrameKernel(evaluator, cursor, fields(functions, evaluator.newResult())))
  }

  private def offsets(functions: Seq[Offset]): Seq[Kernel] = if (functions.isEmpty) Nil
  else {
    def result = new SpecificInternalRow(functions.map(_.function.dataType))
    Seq(new OffsetKernel(functions.map(_.function), output, cursor, fields(functions, result)))
  }

  private def numbers(function: Option[FunctionProgram]): NumberColumn = function.map { function =>
    val column = new NumberColumn(batch, results(function.result))
    resultColumns(function.result) = column
    column
  }.orNull

  private def fields(functions: Seq[FunctionProgram], newRow: => SpecificInternalRow): Array[SpecificInternalRow] = {
    val rows = Array.fill(batch)(newRow)
    functions.zipWithIndex.foreach { case (function, field) =>
      resultColumns(function.result) = new FieldColumn(rows, field)
    }
    rows
  }
}
