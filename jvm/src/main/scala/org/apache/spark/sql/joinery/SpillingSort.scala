package org.apache.spark.sql.joinery

import java.util.Comparator

import org.apache.spark.memory.SparkOutOfMemoryError
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.{SortPrefixUtils, UnsafeExternalRowSorter}
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
 * @param total
 *   a total order of the rows that begins with `order`; null: rows that `order` leaves equal come in any order
 * @param reversed
 *   whether the last come first
 */
class SpillingSort(
    order: Seq[SortOrder],
    output: Seq[Attribute],
    spillSize: SQLMetric,
    total: Comparator[UnsafeRow] = null,
    reversed: Boolean = false) {
  private val metrics = TaskContext.get().taskMetrics()
  private val spilledBefore = metrics.memoryBytesSpilled
  private var isEmpty = true
  private lazy val sorter = { // which takes memory before its first row
    val forwards: Ordering[InternalRow] =
      if (total != null) Ordering.comparatorToOrdering(total).on(_.asInstanceOf[UnsafeRow])
      else RowOrdering.create(order, output)
    val ordering = if (reversed) forwards.reverse else forwards
    val first = BindReferences.bindReference(if (reversed) SpillingSort.reverse(order.head) else order.head, output)
    val prefix = SortPrefix(first)
    val prefixOf = UnsafeProjection.create(Seq(prefix))
    val computer = new UnsafeExternalRowSorter.PrefixComputer {
      private val result = new UnsafeExternalRowSorter.PrefixComputer.Prefix
      override def computePrefix(row: InternalRow): UnsafeExternalRowSorter.PrefixComputer.Prefix = {
        val computed = prefixOf(row)
        result.isNull = computed.isNullAt(0)
        result.value = if (result.isNull) prefix.nullValue else computed.getLong(0)
        result
      }
    }
    UnsafeExternalRowSorter.create(
      DataTypeUtils.fromAttributes(output),
      ordering,
      SortPrefixUtils.getPrefixComparator(first),
      computer,
      SparkEnv.get.memoryManager.pageSizeBytes,
      total == null && order.length == 1 && SortPrefixUtils.canSortFullyWithPrefix(first)
    )
  }

  /** Fails where there is no memory for the row even once all others are spilled. */
  def insert(row: UnsafeRow): Unit = {
    sorter.insertRow(row)
    isEmpty = false
  }

  /** @return false if there is no memory for the row, which is not taken then; what was taken before stays */
  def offer(row: UnsafeRow): Boolean =
    try {
      insert(row)
      true
    } catch { case _: SparkOutOfMemoryError => false }

  /** @return the rows in order; each good until the next is asked for */
  def sorted(): Iterator[InternalRow] = if (isEmpty) Iterator.empty
  else {
    val rows = sorter.sort()
    spillSize += metrics.memoryBytesSpilled - spilledBefore
    metrics.incPeakExecutionMemory(sorter.getPeakMemoryUsage)
    rows
  }
}

private object SpillingSort {
  private def reverse(term: SortOrder): SortOrder = term.copy(
    direction = if (term.direction == Ascending) Descending else Ascending,
    nullOrdering = if (term.nullOrdering == NullsFirst) NullsLast else NullsFirst,
    sameOrderExpressions = Nil
  )
}
