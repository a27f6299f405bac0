package io.github.sparkjoinery.window.runtime

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{CalendarIntervalType, DataType, DecimalType}

import io.github.sparkjoinery.window.logical.program.{FrameProgram, WindowProgram}
import io.github.sparkjoinery.window.runtime.frames.{FrameBounds, ResultRow}
import io.github.sparkjoinery.window.runtime.kernels.{Kernel, KernelFactory}
import io.github.sparkjoinery.window.runtime.rows.PartitionRows

/**
 * Computes the window functions of one partition after the other, in batches of rows. It finds the frames, and the
 * kernels compute the results. An error is thrown when its row is requested, as in Spark's operator.
 */
private[window] abstract class FrameBatches(program: WindowProgram, output: Seq[Attribute], rows: PartitionRows) {
  protected val kernelFactory: KernelFactory
  protected def newBounds(frame: FrameProgram, raise: Int => Unit): FrameBounds

  private var made: Array[Frame] = _ // not lazy, because it is read for each row

  protected final def frames: Array[Frame] = {
    if (made == null) made = program.frames.toArray.map(new Frame(_))
    made
  }
  private lazy val areByNumber = frames.forall(_.bounds.areByNumber)
  private val wide = program.results.count(FrameBatches.isWide)
  private var most = FrameBatches.Rows // rows in a batch
  final lazy val results: ResultRow = { frames; new ResultRow(kernelFactory.resultColumns) }

  /** First row and number of rows of the current batch. */
  var first, count = 0
  private var start, end = 0
  private var passed = 0 // rows before `start` that the frames have moved past
  private var failure: Throwable = _ // error of the row after the batch

  /**
   * Begins a partition.
   *
   * @param start
   *   the first row to compute. Earlier rows only fill the frames of other rows.
   */
  def begin(start: Int): Unit = {
    first = start
    count = 0
    this.start = start
    end = rows.size
    passed = 0
    failure = null
    most = FrameBatches.rowsAtATime(wide, rows.widest)
    frames.foreach(_.clear())
  }

  /**
   * Moves to the next batch.
   *
   * @return
   *   false at the end of the partition, or if the rest of it cannot be computed in this way
   */
  final def next(): Boolean = {
    first += count
    count = 0
    if (failure != null) throw failure
    find() && {
      compute()
      true
    }
  }

  /** Finds the frames of a batch. */
  protected def find(): Boolean

  /** True if batches have fewer rows than are loaded at a time. */
  protected final def isSmall: Boolean = most < FrameBatches.Rows

  /** True if all rows have been computed. */
  protected final def isAtEnd: Boolean = first >= end

  /** Finds the frames of loaded rows, up to the first row whose bounds throw. */
  protected final def findFrames(loaded: Int, isComplete: Boolean): Unit =
    if (passed == start || pass(loaded, isComplete)) {
      val until = math.min(loaded, end)
      if (areByNumber) findByNumber(until, isComplete) else findOneByOne(until, isComplete)
    }

  private def findByNumber(until: Int, isComplete: Boolean): Unit = {
    val row = first + count
    val wanted = math.max(math.min(most - count, until - row), 0)
    val rows = frames.foldLeft(wanted)((rows, frame) => math.min(rows, frame.bounds.reachable(row, isComplete)))
    frames.foreach(_.bounds.recordAll(row, count, rows))
    count += rows
  }

  private def findOneByOne(until: Int, isComplete: Boolean): Unit = {
    var found = true
    while (found && count < most && first + count < until) {
      try found = reach(first + count, isComplete)
      catch { case NonFatal(error) => if (count == 0) throw error else found = false } // thrown again later
      if (found) count += 1
    }
  }

  /** Moves the frames past rows that are not computed. Errors of those rows do not concern this task. */
  private def pass(loaded: Int, isComplete: Boolean): Boolean = {
    var found = true
    while (found && passed < math.min(loaded, start)) {
      try found = reach(passed, isComplete)
      catch { case NonFatal(_) => }
      if (found) passed += 1
    }
    if (passed == start) frames.foreach(frame => frame.functions.foreach(_.skipTo(frame.bounds.recordedLo)))
    passed == start
  }

  /** The row whose frame is found next. */
  protected final def nextToFind: Int = if (passed < start) passed else first

  private def reach(row: Int, isComplete: Boolean): Boolean = {
    val frames = this.frames
    var found = true
    var i = 0
    while (found && i < frames.length) { found = frames(i).bounds.reach(row, isComplete); i += 1 }
    if (found) {
      i = 0
      while (i < frames.length) { frames(i).bounds.record(row, count); i += 1 }
    }
    found
  }

  private def compute(): Unit = {
    val frames = this.frames
    var i = 0
    while (i < frames.length) {
      val functions = frames(i).functions
      var j = 0
      while (j < functions.length) {
        functions(j).computed = 0
        try functions(j).compute(first, count, frames(i).bounds.los, frames(i).bounds.his)
        catch {
          case NonFatal(error) =>
            count = functions(j).computed
            if (count == 0) throw error
            failure = error
        }
        j += 1
      }
      i += 1
    }
  }

  protected final class Frame(frame: FrameProgram) {
    val functions: Array[Kernel] = kernelFactory.choose(frame).toArray
    val bounds: FrameBounds = newBounds(frame, raise)

    def clear(): Unit = { bounds.clear(); functions.foreach(_.clear()) }

    private lazy val boundsOf = UnsafeProjection.create(frame.overflow, output)

    /** Evaluates the bounds of a row again, which throws Spark's error. */
    private def raise(of: Int): Unit = boundsOf(rows.cursor(of).next())
  }
}

private[window] object FrameBatches {
  val Rows = 1024
  private val MostBytes = 8L << 20

  /**
   * Returns the number of rows in a batch. Results may hold copies of values that the memory manager does not count, so
   * rows with large values get small batches.
   *
   * @param wide
   *   the number of results per row that may be as large as a row
   * @param widest
   *   bytes of the widest row
   */
  def rowsAtATime(wide: Int, widest: Int): Int =
    if (wide == 0) Rows else math.max(math.min(MostBytes / math.max(wide.toLong * widest, 1), Rows), 1).toInt

  private def isWide(dataType: DataType): Boolean = dataType match {
    case _: DecimalType | CalendarIntervalType => false
    case other => !UnsafeRow.isFixedLength(other)
  }
}
