package io.github.sparkjoinery.execution.window.skew

import org.apache.spark.memory.SparkOutOfMemoryError
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{DeclarativeAggregate, Sum}
import org.apache.spark.sql.joinery.TaskBuildMemory
import org.apache.spark.sql.types.{Decimal, DecimalType, LongType}

import io.github.sparkjoinery.execution.rows.{KeyIndex, LongKeyIndex}
import io.github.sparkjoinery.execution.window.{FrameProgram, FunctionProgram}
import io.github.sparkjoinery.execution.window.kernels.{FilteredFunction, Merging}
import io.github.sparkjoinery.expressions.SumMode

/** A growing frame's functions over rows that come before a part, added in any order. */
private[skew] final class Carried(frame: FrameProgram, terms: SplitTerms, output: Seq[Attribute], memory: TaskBuildMemory) {
  private val functions: Seq[FilteredFunction] = frame.functions.collect { case FunctionProgram.Growing(function, _) => function }
  private val merging = new Merging(functions.map(Carried.inAnyOrder), output, mergeable = false)
  private val buffer = merging.newBuffer()
  merging.initialize(buffer)
  private var isEmpty = true

  private val last = merging.newBuffer()

  // dense_rank goes by the number of times
  private val times = if (functions.exists(_.function.isInstanceOf[DenseRank])) new LongKeyIndex(memory) else null
  private val timeOf = UnsafeProjection.create(Seq(terms.time.word), output)

  def add(row: UnsafeRow): Unit = {
    merging.update(buffer, row)
    isEmpty = false
    if (times != null && times.add(terms.time.of(timeOf(row))) == KeyIndex.NoMemory) throw new SparkOutOfMemoryError(
      "UNABLE_TO_ACQUIRE_MEMORY", java.util.Map.of("requestedBytes", (times.bytes * 2).toString, "receivedBytes", "0"))
  }

  /**
   * @param target the buffer of a kernel for the same functions
   * @param first  of the rows that the kernel gets
   */
  def into(target: InternalRow, first: UnsafeRow): Unit = if (!isEmpty) {
    // That row's time may have been counted: then it is as if it had come last.
    merging.copy(buffer, last)
    if (times != null && times.find(terms.time.of(timeOf(first))) >= 0) merging.update(last, first)
    var (from, to) = (0, 0)
    functions.foreach { case FilteredFunction(function, _) =>
      val (fields, here) = (function.aggBufferAttributes, Carried.inAnyOrder(function).aggBufferAttributes)
      function match {
        case sum: Sum if Carried.isLong(sum) => if (!buffer.getBoolean(from + 1)) target.setLong(to, Carried.asLong(sum, buffer.get(from, null)))
        case _ => fields.indices.foreach(i => target.update(to + i, buffer.get(from + i, null)))
      }
      if (function.isInstanceOf[DenseRank]) {
        fields.indices.foreach(i => target.update(to + i, last.get(from + i, null)))
        target.setInt(to, times.size) // its rank comes first
      }
      from += here.length
      to += fields.length
    }
  }
}

private[skew] object Carried {

  private def inAnyOrder(function: FilteredFunction): FilteredFunction = function.copy(function = inAnyOrder(function.function))

  /** A sum of longs may overflow on the way in one order and not in another: not so as decimals. */
  private def inAnyOrder(function: DeclarativeAggregate): DeclarativeAggregate = function match {
    case sum: Sum if isLong(sum) => sum.copy(child = Cast(sum.child, DecimalType(20, 0)))
    case other => other
  }

  private def isLong(sum: Sum): Boolean = sum.dataType == LongType

  /** With Spark's error if it is none, or wrapped. What comes before a part is the beginning of a frame in Spark, too. */
  private def asLong(sum: Sum, value: Any): Long = {
    val exact = value.asInstanceOf[Decimal].toJavaBigDecimal.toBigIntegerExact
    if (exact.bitLength > 63) Add(Literal(Long.MaxValue), Literal(1L), SumMode.of(sum)).eval()
    exact.longValue
  }
}
