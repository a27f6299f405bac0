package io.github.sparkjoinery.expressions

import org.apache.spark.sql.catalyst.expressions.EvalMode
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum

/** From Spark 4.1 on a sum holds its mode in a context of evaluation; before, itself. */
object SumMode {
  def of(sum: Sum): EvalMode.Value = sum.evalContext.evalMode

  /** The sum that is NULL where it overflows. */
  def orNull(sum: Sum): Sum = sum.copy(evalContext = sum.evalContext.copy(evalMode = EvalMode.TRY))
}
