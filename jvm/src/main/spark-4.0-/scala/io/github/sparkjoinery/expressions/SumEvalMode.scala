package io.github.sparkjoinery.expressions

import org.apache.spark.sql.catalyst.expressions.EvalMode
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum

/** Reads the evaluation mode of a sum. Before Spark 4.1 the sum has it itself, from 4.1 on its evaluation context. */
object SumEvalMode {
  def read(sum: Sum): EvalMode.Value = sum.evalMode

  /** The sum that is NULL if it overflows. */
  def orNull(sum: Sum): Sum = sum.copy(evalMode = EvalMode.TRY)
}
