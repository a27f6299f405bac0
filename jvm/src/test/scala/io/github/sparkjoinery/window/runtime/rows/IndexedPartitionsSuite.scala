package io.github.sparkjoinery.window.runtime.rows

import org.apache.spark.SparkEnv
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.joinery.ScarceMemory
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.github.sparkjoinery.JoinerySession
import io.github.sparkjoinery.execution.rows.HeldHeap

/** Rows of a window that leave memory for a sort. */
class IndexedPartitionsSuite extends JoinerySession {

  test("rows that are drained come in their order and hold no memory that is not accounted for") {
    val Seq((ids, excess, left)) =
      spark.sparkContext.parallelize(Seq(0), 1).map(_ => IndexedPartitionsSuite.drained()).collect().toSeq
    assert(ids == ids.indices.map(_.toLong))
    assert(excess <= (64L << 10), "bytes are held that are not accounted for")
    assert(left == 0, "bytes are held after the last row")
  }
}

private object IndexedPartitionsSuite {
  private val Length = 200 << 10

  /** Returns the ids, the most bytes that were held and not accounted for, and the bytes that are held at the end. */
  def drained(): (Seq[Long], Long, Long) = {
    val output = Seq(AttributeReference("k", IntegerType)(), AttributeReference("id", LongType)()) :+
      AttributeReference("text", StringType)()
    val rows = new IndexedPartitions(
      Seq(output.head),
      Seq(SortOrder(output(1), Ascending)),
      output,
      limit = Long.MaxValue)
    val page = SparkEnv.get.memoryManager.pageSizeBytes
    val toUnsafe = UnsafeProjection.create(output.map(_.dataType).toArray)
    val text = UTF8String.fromString("x" * Length)
    for (id <- 0L until 5 * page / Length)
      assert(rows.add(toUnsafe(new GenericInternalRow(Array[Any]((id % 7).toInt, id, text)))))
    var excess = 0L
    val ids = rows.drain().map { row =>
      excess = math.max(excess, HeldHeap.of(rows) - ScarceMemory.acquired)
      row.getLong(1)
    }.toList
    (ids, excess, ScarceMemory.acquired)
  }
}
