package org.apache.spark.sql.joinery

import org.apache.spark.executor.ShuffleWriteMetrics
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.util.collection.unsafe.sort.UnsafeSorterSpillWriter
import org.apache.spark.{SparkEnv, TaskContext}

/**
 * Rows in a temporary file of a task. The format is that of Spark's external sort, compressed and encrypted. The file
 * can be read once.
 */
final class SpilledRows private (context: TaskContext, writer: UnsafeSorterSpillWriter) {

  /** Reads the rows; each is overwritten by the next. The file is deleted after the last. */
  def read(numFields: Int): Iterator[UnsafeRow] = {
    val reader = writer.getReader(SparkEnv.get.serializerManager)
    context.addTaskCompletionListener[Unit](_ => reader.close())
    val row = new UnsafeRow(numFields)
    new Iterator[UnsafeRow] {
      private var isGone = false
      override def hasNext: Boolean = reader.hasNext || {
        if (!isGone) { reader.close(); delete() }
        isGone = true
        false
      }
      override def next(): UnsafeRow = {
        reader.loadNext()
        row.pointTo(reader.getBaseObject, reader.getBaseOffset, reader.getRecordLength)
        row
      }
    }
  }

  private def delete(): Unit = { writer.getFile.delete(); () }
}

object SpilledRows {
  private val FileBuffer = 32 << 10 // as in Spark's external sort

  /**
   * @param count
   *   number of rows
   * @param bytes
   *   their size in memory, for the task's metrics
   */
  def write(context: TaskContext, rows: Iterator[UnsafeRow], count: Int, bytes: Long): SpilledRows = {
    val writer = new UnsafeSorterSpillWriter(SparkEnv.get.blockManager, FileBuffer, new ShuffleWriteMetrics, count)
    val spilled = new SpilledRows(context, writer)
    context.addTaskCompletionListener[Unit](_ => spilled.delete())
    rows.foreach(row => writer.write(row.getBaseObject, row.getBaseOffset, row.getSizeInBytes, 0))
    writer.close()
    context.taskMetrics().incMemoryBytesSpilled(bytes)
    context.taskMetrics().incDiskBytesSpilled(writer.getFile.length)
    spilled
  }
}
