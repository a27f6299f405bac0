package org.apache.spark.sql.joinery

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.SortPrefixUtils
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.util.collection.unsafe.sort.{RecordComparator, UnsafeExternalSorter, UnsafeSorterIterator}
import org.apache.spark.{SparkEnv, TaskContext}

/**
 * Spark's external sort where there is no operator for it: within a task, in memory that its manager grants, else
 * spilling.
 *
 * @param order
 *   not empty
 * @param output
 *   columns of the rows
 * @param spillSize
 *   is told what was spilled, in bytes
 */
final class SpillingSort(order: Seq[SortOrder], output: Seq[Attribute], spillSize: SQLMetric) {
  private var sorter: UnsafeExternalSorter = _ // which takes memory before its first row

  private val first = BindReferences.bindReference(order.head, output)
  private val prefix = SortPrefix(first)
  private val prefixOf = UnsafeProjection.create(Seq(prefix))

  private def newSorter(): UnsafeExternalSorter = {
    val ordering = RowOrdering.create(order, output)
    ExternalSorter.create(
      () => new SpillingSort.OfRows(ordering, output.length),
      SortPrefixUtils.getPrefixComparator(first),
      SpillingSort.pageBytes,
      order.length == 1 && SortPrefixUtils.canSortFullyWithPrefix(first)
    )
  }

  /** Fails where there is no memory for the row even once all others are spilled. */
  def insert(row: UnsafeRow): Unit = {
    if (sorter == null) sorter = newSorter()
    val computed = prefixOf(row)
    val isNull = computed.isNullAt(0)
    val word = if (isNull) prefix.nullValue else computed.getLong(0)
    sorter.insertRecord(row.getBaseObject, row.getBaseOffset, row.getSizeInBytes, word, isNull)
  }

  /** @return the rows in order; each good until the next is asked for */
  def sorted(): Iterator[UnsafeRow] = if (sorter == null) Iterator.empty
  else {
    val rows = sorter.getSortedIterator
    spillSize += sorter.getSpillSize
    TaskContext.get().taskMetrics().incPeakExecutionMemory(sorter.getPeakMemoryUsedBytes)
    new SpillingSort.Rows(rows, output.length, sorter.cleanupResources)
  }
}

private object SpillingSort {

  /** So small that several sorts of a task find room where memory is scarce. */
  private def pageBytes: Long =
    math.min(SparkEnv.get.memoryManager.pageSizeBytes, math.max(ExecutionMemory.shareOfTask / 16, LeastPage))

  private val LeastPage = 64L << 10

  private final class OfRows(order: BaseOrdering, numFields: Int) extends RecordComparator {
    private val (left, right) = (new UnsafeRow(numFields), new UnsafeRow(numFields))
    override def compare(a: Any, aAt: Long, aLength: Int, b: Any, bAt: Long, bLength: Int): Int = {
      left.pointTo(a, aAt, aLength)
      right.pointTo(b, bAt, bLength)
      order.compare(left, right)
    }
  }

  private final class Rows(rows: UnsafeSorterIterator, numFields: Int, free: () => Unit) extends Iterator[UnsafeRow] {
    private val row = new UnsafeRow(numFields)
    override def hasNext: Boolean = rows.hasNext
    override def next(): UnsafeRow = {
      rows.loadNext()
      row.pointTo(rows.getBaseObject, rows.getBaseOffset, rows.getRecordLength)
      if (rows.hasNext) row
      else {
        val last = row.copy()
        free()
        last
      }
    }
  }
}
