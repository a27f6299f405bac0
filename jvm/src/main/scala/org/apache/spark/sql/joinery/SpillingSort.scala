package org.apache.spark.sql.joinery

import java.util.Comparator

import org.apache.spark.memory.{MemoryConsumer, SparkOutOfMemoryError}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.SortPrefixUtils
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
 * @param sorts
 *   the group of this operator's sorts in this task
 * @param total
 *   a total order that begins with `order`; if null, rows that are equal in `order` come in any order
 * @param reversed
 *   true to sort in the reverse order
 */
final class SpillingSort(
    order: Seq[SortOrder],
    output: Seq[Attribute],
    sorts: SpillingSorts,
    total: Comparator[UnsafeRow] = null,
    reversed: Boolean = false) {
  private var sorter: UnsafeExternalSorter = _ // created with the first row, since it takes memory when created

  private val first =
    BindReferences.bindReference(if (reversed) SpillingSort.reverse(order.head) else order.head, output)
  private val prefix = SortPrefix(first)
  private val prefixOf = UnsafeProjection.create(Seq(prefix))

  private def newSorter(): UnsafeExternalSorter = {
    val forwards: Comparator[UnsafeRow] =
      if (total != null) total else { val rows = RowOrdering.create(order, output); rows.compare(_, _) }
    val ordering = if (reversed) forwards.reversed() else forwards
    ExternalSorter.create(
      () => new SpillingSort.OfRows(ordering, output.length),
      SortPrefixUtils.getPrefixComparator(first),
      SpillingSort.pageBytes,
      total == null && order.length == 1 && SortPrefixUtils.canSortFullyWithPrefix(first)
    )
  }

  /** Adds a row. Throws if there is no memory for it even after all other rows are spilled. */
  def insert(row: UnsafeRow): Unit = {
    if (sorter == null) {
      sorter = newSorter()
      sorts.begin(this)
    }
    val computed = prefixOf(row)
    val isNull = computed.isNullAt(0)
    val word = if (isNull) prefix.nullValue else computed.getLong(0)
    sorter.insertRecord(row.getBaseObject, row.getBaseOffset, row.getSizeInBytes, word, isNull)
  }

  /** @return false if there is no memory for the row; the rows added before are kept */
  def offer(row: UnsafeRow): Boolean =
    try {
      insert(row)
      true
    } catch { case _: SparkOutOfMemoryError => false }

  /** Bytes held in memory. */
  private[joinery] def held: Long = if (sorter == null) 0 else sorter.getUsed

  /**
   * Spills this sort, unless it is the one that asks for memory.
   *
   * @return
   *   bytes freed
   */
  private[joinery] def giveTo(trigger: MemoryConsumer): Long =
    if (sorter == null || (trigger eq sorter)) 0 else sorter.spill(Long.MaxValue, sorter)

  /** @return the rows in order; each is overwritten by the next */
  def sorted(): Iterator[UnsafeRow] = if (sorter == null) Iterator.empty
  else {
    sorts.end(this) // from here on Spark's sorter spills for other consumers by itself
    val rows = sorter.getSortedIterator
    sorts.spillSize += sorter.getSpillSize
    TaskContext.get().taskMetrics().incPeakExecutionMemory(sorter.getPeakMemoryUsedBytes)
    new SpillingSort.Rows(rows, output.length, sorter.cleanupResources)
  }
}

private object SpillingSort {
  private def reverse(term: SortOrder): SortOrder = term.copy(
    direction = if (term.direction == Ascending) Descending else Ascending,
    nullOrdering = if (term.nullOrdering == NullsFirst) NullsLast else NullsFirst,
    sameOrderExpressions = Nil
  )

  /** The page size, small enough for several sorts of a task to find room if memory is scarce. */
  private def pageBytes: Long =
    math.min(SparkEnv.get.memoryManager.pageSizeBytes, math.max(ExecutionMemory.shareOfTask / 16, LeastPage))

  private val LeastPage = 64L << 10

  private final class OfRows(order: Comparator[UnsafeRow], numFields: Int) extends RecordComparator {
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
