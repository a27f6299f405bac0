package io.github.sparkjoinery.window.runtime.kernels

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import io.github.sparkjoinery.window.logical.program.FilteredFunction

/**
 * Evaluates Spark's own expressions for several functions of one frame. Their buffers are adjacent fields of one row.
 */
private[window] final class AggregateEvaluator(
    functions: Seq[FilteredFunction],
    input: Seq[Attribute],
    mergeable: Boolean) {
  private val attributes = functions.flatMap(_.function.aggBufferAttributes)
  private val right = functions.flatMap(_.function.inputAggBufferAttributes)
  private val joined = new JoinedRow
  private val initializeBuffer = MutableProjection.create(functions.flatMap(_.function.initialValues), Nil)
  private val updateBuffer = MutableProjection.create(functions.flatMap(_.updates), attributes ++ input)
  private val mergeBuffers =
    if (mergeable) MutableProjection.create(functions.flatMap(_.merges), attributes ++ right) else null
  private val copyBuffer = MutableProjection.create(attributes, attributes)
  private val result = MutableProjection.create(functions.map(_.evaluate), attributes)

  def newBuffer(): SpecificInternalRow = new SpecificInternalRow(attributes.map(_.dataType))
  def newResult(): SpecificInternalRow = new SpecificInternalRow(functions.map(_.evaluate.dataType))

  def initialize(buffer: InternalRow): Unit = initializeBuffer.target(buffer)(EmptyRow)
  def update(buffer: InternalRow, row: InternalRow): Unit = updateBuffer.target(buffer)(joined(buffer, row))

  /** Merges `later` into `buffer`, which holds the earlier rows. */
  def merge(buffer: InternalRow, later: InternalRow): Unit = mergeBuffers.target(buffer)(joined(buffer, later))
  def copy(from: InternalRow, to: InternalRow): Unit = copyBuffer.target(to)(from)
  def evaluate(buffer: InternalRow, into: InternalRow): Unit = result.target(into)(buffer)
}
