package io.github.sparkjoinery.window.runtime.rows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.joinery.Collations
import org.apache.spark.sql.joinery.{ExecutionMemory, ReplayedRows, SpillLimits, TaskBuildMemory}

/**
 * Partitions of rows that come sorted. One is kept at a time, as Spark's operator keeps it: in memory, else spilled.
 *
 * @param rows
 *   sorted by key, then as the window orders them
 */
private[window] final class SortedRows(
    rows: Iterator[InternalRow],
    keys: Seq[Expression],
    output: Seq[Attribute],
    spillSize: SQLMetric) extends PartitionRows {
  private val keyOf = UnsafeProjection.create(keys, output)
  private val sameKey: (UnsafeRow, UnsafeRow) => Boolean =
    if (keys.forall(key => Collations.isBinaryStable(key.dataType))) _ == _
    else {
      val order = InterpretedOrdering.forSchema(keys.map(_.dataType))
      order.compare(_, _) == 0
    }
  private val kept = {
    val limits = SpillLimits.ofWindow.atMost(ExecutionMemory.shareOfTask / 4)
    new ReplayedRows(output.length, limits, TaskBuildMemory())
  }
  private var ahead: UnsafeRow = _
  var widest = 0

  override def nextPartition(): Boolean = {
    kept.clear()
    widest = 0
    if (ahead == null) advance()
    ahead != null && {
      val key = keyOf(ahead).copy()
      keep()
      while (ahead != null && sameKey(key, keyOf(ahead))) keep()
      true
    }
  }

  private def keep(): Unit = {
    kept.add(ahead)
    widest = math.max(widest, ahead.getSizeInBytes)
    advance()
  }

  private def advance(): Unit = ahead = if (rows.hasNext) rows.next().asInstanceOf[UnsafeRow] else null

  override def size: Int = kept.size

  override def cursor(from: Int): RowCursor = {
    val reader = kept.reader(from)
    () => reader.read()
  }

  override def close(): Unit = { spillSize += kept.spillSize; kept.close() }
}
