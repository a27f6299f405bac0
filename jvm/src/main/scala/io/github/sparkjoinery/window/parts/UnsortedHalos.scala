package io.github.sparkjoinery.window.parts

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.joinery.{DriverBuildMemory, ReplayedRows, SpillLimits}

/**
 * Rows that may be of halos, on disk as they come. It asks for no memory, which a sort of them would need.
 *
 * @param numFields
 *   of a row
 * @param spillSize
 *   is told what was written, in bytes
 */
private[window] final class UnsortedHalos(numFields: Int, spillSize: SQLMetric) {
  private def onDisk = {
    val rows = new ReplayedRows(numFields, SpillLimits(Int.MaxValue, 0), new DriverBuildMemory(0))
    TaskContext.get().addTaskCompletionListener[Unit](_ => rows.close())
    rows
  }
  private val (befores, afters) = (onDisk, onDisk)

  /** @param isBefore whether it comes before the part whose halo it may be of */
  def add(row: UnsafeRow, isBefore: Boolean): Unit = (if (isBefore) befores else afters).add(row)

  /** After the last row: those before their parts, or those after them; each is good until the next. */
  def rows(areBefore: Boolean): Iterator[UnsafeRow] = {
    val rows = if (areBefore) befores else afters
    spillSize += rows.spillSize
    val reader = rows.reader(0)
    Iterator.continually(reader.read()).takeWhile(_ != null)
  }
}
