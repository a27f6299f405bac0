package io.github.sparkjoinery.execution.window.skew

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.joinery.TaskBuildMemory

import io.github.sparkjoinery.execution.rows.{KeyIndex, LongKeyIndex}
import io.github.sparkjoinery.execution.window.{FrameProgram, FunctionProgram}
import io.github.sparkjoinery.execution.window.kernels.{FilteredFunction, Merging}

/**
 * A growing frame's functions over rows that come before a part, added in any order. For dense_rank, the number of times among them.
 */
private[skew] final class Carried(frame: FrameProgram, terms: SplitTerms, output: Seq[Attribute], memory: TaskBuildMemory) {
  private val functions: Seq[FilteredFunction] = frame.functions.collect { case FunctionProgram.Growing(function, _) => function }
  private val merging = new Merging(functions, output, mergeable = false)
  private val buffer = merging.newBuffer()
  merging.initialize(buffer)
  private var isEmpty = true

  private val times = if (functions.exists(_.function.isInstanceOf[DenseRank])) new LongKeyIndex(memory) else null
  private val timeOf = UnsafeProjection.create(Seq(terms.time.word), output)

  def add(row: UnsafeRow): Unit = {
    merging.update(buffer, row)
    isEmpty = false
    if (times != null && times.add(terms.time.of(timeOf(row))) == KeyIndex.NoMemory) {
      throw new org.apache.spark.memory.SparkOutOfMemoryError("UNABLE_TO_ACQUIRE_MEMORY",
        java.util.Map.of("requestedBytes", (times.bytes * 2).toString, "receivedBytes", "0"))
    }
  }

  /** @param target of the same functions */
  def into(kernel: Merging, target: InternalRow): Unit = if (!isEmpty) {
    kernel.copy(buffer, target)
    functions.zipWithIndex.foreach {
      case (FilteredFunction(_: DenseRank, _), i) => // its rank is the first of its fields
        target.setInt(functions.take(i).map(_.function.aggBufferAttributes.length).sum, times.size)
      case _ =>
    }
  }
}
