package io.github.sparkjoinery.window.kernels

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.types.DoubleType

import io.github.sparkjoinery.window.program.FilteredFunction
import io.github.sparkjoinery.window.rows.RowCursor

/** Spark's own expressions for some functions of one frame: their buffers side by side in a row. */
private[window] final class Merging(functions: Seq[FilteredFunction], input: Seq[Attribute], mergeable: Boolean) {
  private val attributes = functions.flatMap(_.function.aggBufferAttributes)
  private val right = functions.flatMap(_.function.inputAggBufferAttributes)
  private val joined = new JoinedRow
  private val initializeBuffer = MutableProjection.create(functions.flatMap(_.function.initialValues), Nil)
  private val updateBuffer = MutableProjection.create(functions.flatMap(_.updates), attributes ++ input)
  private val mergeBuffers =
    if (mergeable) MutableProjection.create(functions.flatMap(_.merges), attributes ++ right) else null
  private val copyBuffer = MutableProjection.create(attributes, attributes)
  private val result = MutableProjection.create(functions.map(_.function.evaluateExpression), attributes)

  def newBuffer(): SpecificInternalRow = new SpecificInternalRow(attributes.map(_.dataType))
  def newResult(): SpecificInternalRow = new SpecificInternalRow(functions.map(_.function.dataType))

  def initialize(buffer: InternalRow): Unit = initializeBuffer.target(buffer)(EmptyRow)
  def update(buffer: InternalRow, row: InternalRow): Unit = updateBuffer.target(buffer)(joined(buffer, row))

  /** `buffer` is to hold what comes first. */
  def merge(buffer: InternalRow, later: InternalRow): Unit = mergeBuffers.target(buffer)(joined(buffer, later))
  def copy(from: InternalRow, to: InternalRow): Unit = copyBuffer.target(to)(from)
  def evaluate(buffer: InternalRow, into: InternalRow): Unit = result.target(into)(buffer)
}

/**
 * Any functions that can be merged, over one frame.
 *
 * @param cursor
 *   of the partition's rows
 * @param results
 *   by row of the batch
 * @param guards
 *   of sums that may overflow
 */
private[window] final class MergedFunctions(
    functions: Merging,
    cursor: Int => RowCursor,
    results: Array[SpecificInternalRow],
    guards: Array[OverflowGuard])
  extends TwoStacks {
  private var entering, totalled, leaving: ForwardRows = _
  private var suffix = new Array[SpecificInternalRow](16)
  private var totals = new Array[SpecificInternalRow](4)
  private val inputs = new Array[UnsafeRow](TwoStacks.Chunk)
  private val back = functions.newBuffer()
  private val merged = functions.newBuffer()
  private var inOrder = false // some part of a sum might overflow: each frame as Spark computes it

  // Of frames in order, of which rows that tie share one: the last of the batch before, then those of the batch.
  private lazy val ofFrames = Array.fill(results.length + 1)(functions.newBuffer())
  private val (begins, ends) = (new Array[Int](results.length + 1), new Array[Int](results.length + 1))
  private val frameOf = new Array[Int](results.length) // by row of the batch

  override def clear(): Unit = {
    startFrom(0)
    begins(0) = -1
    guards.foreach(_.clear())
  }

  /** With frames that begin at this row, or after it. */
  private def startFrom(row: Int): Unit = {
    super.clear()
    super.skipTo(row)
    entering = new ForwardRows(cursor)
    totalled = new ForwardRows(cursor)
    leaving = new ForwardRows(cursor)
    inOrder = false
  }

  override def skipTo(lo: Int): Unit = { super.skipTo(lo); guards.foreach(_.skipTo(lo)) }

  override def compute(first: Int, count: Int, los: Array[Int], his: Array[Int]): Unit = {
    var k = 0
    if (inOrder && !mayOverflow(los(0), his(0))) startFrom(los(0))
    while (k < count && !inOrder) {
      computed = k
      inOrder = mayOverflow(keptFrom(los(k)), his(k))
      if (!inOrder) { step(k, los(k), his(k)); k += 1 }
    }
    computed = k
    if (k < count) framesInOrder(k, count, los, his)
  }

  private def mayOverflow(lo: Int, hi: Int): Boolean = {
    var (found, i) = (false, 0)
    while (i < guards.length) { found |= guards(i).mayOverflow(lo, hi); i += 1 }
    found
  }

  /** Frames of rows of the batch, each by itself, from its first row to its last; all in one pass over the rows. */
  private def framesInOrder(from: Int, count: Int, los: Array[Int], his: Array[Int]): Unit = {
    var frames = 0
    var k = from
    while (k < count) {
      if (los(k) != begins(frames) || his(k) != ends(frames)) {
        frames += 1
        begins(frames) = los(k)
        ends(frames) = his(k)
        functions.initialize(ofFrames(frames))
      }
      frameOf(k) = frames
      k += 1
    }
    val failure = addInOrder(frames)
    val until = if (failure == null) frames + 1 else failure._1
    k = from
    while (k < count && frameOf(k) < until) {
      computed = k
      functions.evaluate(ofFrames(frameOf(k)), results(k))
      k += 1
    }
    computed = k
    if (failure != null) throw failure._2
    val last = ofFrames(frames)
    ofFrames(frames) = ofFrames(0)
    ofFrames(0) = last
    begins(0) = begins(frames)
    ends(0) = ends(frames)
  }

  /** @return the first frame that fails, and its error; null if none does */
  private def addInOrder(frames: Int): (Int, Throwable) = if (frames == 0) null
  else {
    var failed: (Int, Throwable) = null
    var until = frames + 1
    val rows = cursor(begins(1))
    var row = begins(1)
    var (begin, end) = (1, 1) // frames that hold the row
    while (begin < until && row < ends(until - 1)) {
      val input = rows.next()
      while (end < until && begins(end) <= row) end += 1
      while (begin < end && ends(begin) <= row) begin += 1
      var i = begin
      while (i < end) {
        try functions.update(ofFrames(i), input)
        catch { case NonFatal(error) => failed = (i, error); until = i; end = i } // the frames before it are to be had
        i += 1
      }
      row += 1
    }
    failed
  }

  override protected def clearBack(): Unit = functions.initialize(back)

  override protected def extendBack(from: Int, until: Int): Unit = {
    entering.moveTo(from)
    var i = from
    while (i < until) { functions.update(back, entering.next()); i += 1 }
  }

  override protected def total(from: Int, until: Int, chunk: Int): Unit = {
    if (chunk >= totals.length) totals = java.util.Arrays.copyOf(totals, totals.length * 2)
    if (totals(chunk) == null) totals(chunk) = functions.newBuffer()
    functions.initialize(totals(chunk))
    totalled.moveTo(from)
    var i = from
    while (i < until) { functions.update(totals(chunk), totalled.next()); i += 1 }
  }

  override protected def accumulateTotals(chunks: Int): Unit = {
    var c = chunks - 2
    while (c >= 1) { functions.merge(totals(c), totals(c + 1)); c -= 1 }
  }

  override protected def suffixes(from: Int, until: Int): Unit = {
    val n = until - from
    while (suffix.length < n) suffix = java.util.Arrays.copyOf(suffix, suffix.length * 2)
    leaving.moveTo(from)
    var i = 0
    while (i < n) { inputs(i) = leaving.next().copy(); i += 1 }
    i = n - 1
    while (i >= 0) {
      if (suffix(i) == null) suffix(i) = functions.newBuffer()
      functions.initialize(suffix(i))
      functions.update(suffix(i), inputs(i))
      inputs(i) = null
      if (i < n - 1) functions.merge(suffix(i), suffix(i + 1))
      i -= 1
    }
  }

  override protected def output(at: Int, place: Int, rest: Int, lo: Int, hi: Int): Unit =
    if (place < 0) functions.evaluate(back, results(at))
    else {
      functions.copy(suffix(place), merged)
      if (rest >= 0) functions.merge(merged, totals(rest))
      functions.merge(merged, back)
      functions.evaluate(merged, results(at))
    }
}

/** A cursor that only moves forwards, opened where it is first needed. */
private[kernels] final class ForwardRows(cursor: Int => RowCursor) {
  private var rows: RowCursor = _
  private var position = 0

  def moveTo(row: Int): Unit = {
    if (rows == null || row - position > ForwardRows.Skip) { rows = cursor(row); position = row }
    while (position < row) { rows.next(); position += 1 }
  }

  def next(): UnsafeRow = { position += 1; rows.next() }
}

private[kernels] object ForwardRows {
  private val Skip = 1024
}
