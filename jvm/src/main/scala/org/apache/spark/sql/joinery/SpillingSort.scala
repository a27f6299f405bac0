package org.apache.spark.sql.joinery

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.SortPrefixUtils
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.util.collection.unsafe.sort.{RecordComparator, UnsafeExternalSorter, UnsafeSorterIterator}
import org.apache.spark.{SparkEnv, TaskContext}

/**
 * Sorts rows with Spark's external sort inside a task, without a sort operator. It spills if Spark's memory manager
 * grants no memory.
 *
 * @param order
 *   not empty
 * @param output
 *   columns of the rows
 * @param spillSize
 *   the metric of bytes spilled
 */
final class SpillingSort(order: Seq[SortOrder], output: Seq[Attribute], spillSize: SQLMetric) {
  private var sorter: UnsafeExternalSorter = _ // created with the first row, since it takes memory when created

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

  /** Adds a row. Throws if there is no memory for it even after all other rows are spilled. */
  def insert(row: UnsafeRow): Unit = {
    if (sorter == null) sorter = newSorter()
    val computed = prefixOf(row)
    val isNull = computed.isNullAt(0)
    val word = if (isNull) prefix.nullValue else computed.getLong(0)
    sorter.insertRecord(row.getBaseObject, row.getBaseOffset, row.getSizeInBytes, word, isNull)
  }

  /** @return the rows in order; each is overwritten by the next */
  def sorted(): Iterator[UnsafeRow] = if (sorter == null) Iterator.empty
  else {
    val rows = sorter.getSortedIterator
    spillSize += sorter.getSpillSize
    TaskContext.get().taskMetrics().incPeakExecutionMemory(sorter.getPeakMemoryUsedBytes)
    new SpillingSort.Rows(rows, output.length, sorter.cleanupResources)
  }
}

private object SpillingSort {

  /** The page size, small enough for several sorts of a task to find room if memory is scarce. */
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
