package io.github.sparkjoinery.window.parts

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{DeclarativeAggregate, Sum}
import org.apache.spark.sql.joinery.{ExecutionMemory, SpillingSort, SpillingSorts, TaskBuildMemory}
import org.apache.spark.sql.types.{DataType, Decimal, DecimalType, LongType}

import io.github.sparkjoinery.execution.rows.LongKeyIndex
import io.github.sparkjoinery.expressions.SumMode
import io.github.sparkjoinery.window.kernels.Merging
import io.github.sparkjoinery.window.program.{FilteredFunction, FrameProgram, FunctionProgram}

/** A growing frame's functions over rows that come before a part, added in any order. */
private[window] final class Carried(
    frame: FrameProgram,
    terms: SplitTerms,
    output: Seq[Attribute],
    memory: TaskBuildMemory,
    sorts: SpillingSorts) {
  private val functions: Seq[FilteredFunction] = frame.functions.collect { case FunctionProgram.Growing(function, _) =>
    function
  }
  private val merging = new Merging(functions.map(Carried.inAnyOrder), output, mergeable = false)
  private val buffer = merging.newBuffer()
  merging.initialize(buffer)
  private var isEmpty = true

  private val last = merging.newBuffer()

  // dense_rank goes by the number of times
  private val times = if (functions.exists(_.function.isInstanceOf[DenseRank])) new Times else null
  private val timeOf = UnsafeProjection.create(Seq(terms.time.word), output)

  /**
   * Different times: as many as there is memory for in an index, the others sorted, which spills. NULL is a time of its
   * own, though a value may have the same word.
   */
  private final class Times {
    private val index = new LongKeyIndex(memory)
    private val limit = ExecutionMemory.shareOfTask / 3
    private var others: SpillingSort = _
    private val column = AttributeReference("time", LongType, nullable = false)()
    private val rowOf = UnsafeProjection.create(Array[DataType](LongType))
    private val single = new GenericInternalRow(1)
    private var hasNull = false

    def add(row: UnsafeRow): Unit = {
      val projected = timeOf(row)
      if (projected.isNullAt(0)) hasNull = true else add(terms.time.of(projected))
    }

    private def add(time: Long): Unit = {
      val known = if (others == null && memory.acquired <= limit) index.add(time) else index.find(time)
      if (known < 0) {
        if (others == null) others = new SpillingSort(Seq(SortOrder(column, Ascending)), Seq(column), sorts)
        single.setLong(0, time)
        others.insert(rowOf(single))
      }
    }

    /** After the last: how many there are, and whether that of this row, always the same, is among them. */
    def found(row: UnsafeRow): (Int, Boolean) = {
      if (counted == null) {
        val projected = timeOf(row)
        val (count, isAmong) = this.count(terms.time.of(projected))
        counted = (if (hasNull) count + 1 else count, if (projected.isNullAt(0)) hasNull else isAmong)
      }
      counted
    }
    private var counted: (Int, Boolean) = _

    private def count(time: Long): (Int, Boolean) = {
      var (count, isAmong, last) = (index.size, index.find(time) >= 0, 0L)
      if (others != null) {
        var isFirst = true
        others.sorted().foreach { row =>
          val here = row.getLong(0)
          if (isFirst || here != last) count += 1
          isAmong |= here == time
          last = here
          isFirst = false
        }
      }
      (count, isAmong)
    }
  }

  def add(row: UnsafeRow): Unit = {
    merging.update(buffer, row)
    isEmpty = false
    if (times != null) times.add(row)
  }

  /**
   * @param target
   *   the buffer of a kernel for the same functions
   * @param first
   *   of the rows that the kernel gets
   */
  def into(target: InternalRow, first: UnsafeRow): Unit = if (!isEmpty) {
    // That row's time may have been counted: then it is as if it had come last.
    merging.copy(buffer, last)
    val (count, isAmong) = if (times == null) (0, false) else times.found(first)
    if (isAmong) merging.update(last, first)
    var (from, to) = (0, 0)
    functions.foreach { case FilteredFunction(function, _, _) =>
      val (fields, here) = (function.aggBufferAttributes, Carried.inAnyOrder(function).aggBufferAttributes)
      function match {
        case sum: Sum if Carried.isLong(sum) =>
          if (!buffer.getBoolean(from + 1)) target.setLong(to, Carried.asLong(sum, buffer.get(from, null)))
        case _ => fields.indices.foreach(i => target.update(to + i, buffer.get(from + i, null)))
      }
      if (function.isInstanceOf[DenseRank]) {
        fields.indices.foreach(i => target.update(to + i, last.get(from + i, null)))
        target.setInt(to, count) // its rank comes first
      }
      from += here.length
      to += fields.length
    }
  }
}

private[window] object Carried {

  private def inAnyOrder(function: FilteredFunction): FilteredFunction =
    FilteredFunction(inAnyOrder(function.function), function.filter)

  /** A sum of longs may overflow on the way in one order and not in another: not so as decimals. */
  private def inAnyOrder(function: DeclarativeAggregate): DeclarativeAggregate = function match {
    case sum: Sum if isLong(sum) => sum.copy(child = Cast(sum.child, DecimalType(20, 0)))
    case other => other
  }

  private def isLong(sum: Sum): Boolean = sum.dataType == LongType

  /**
   * With Spark's error if it is none, or wrapped. What comes before a part is the beginning of a frame in Spark, too.
   */
  private def asLong(sum: Sum, value: Any): Long = {
    val exact = value.asInstanceOf[Decimal].toJavaBigDecimal.toBigIntegerExact
    if (exact.bitLength > 63) Add(Literal(Long.MaxValue), Literal(1L), SumMode.of(sum)).eval()
    exact.longValue
  }
}
