package io.github.sparkjoinery.expressions

import org.apache.spark.sql.catalyst.expressions.EvalMode
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum

/** Before Spark 4.1 a sum holds its mode itself; from then on, in a context of evaluation. */
object SumMode {
  def of(sum: Sum): EvalMode.Value = sum.evalMode

  /** The sum that is NULL where it overflows. */
  def orNull(sum: Sum): Sum = sum.copy(evalMode = EvalMode.TRY)
}
