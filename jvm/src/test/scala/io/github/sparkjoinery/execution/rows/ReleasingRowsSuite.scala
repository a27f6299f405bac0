package io.github.sparkjoinery.execution.rows

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection}
import org.apache.spark.sql.joinery.{ScarceMemory, TaskBuildMemory}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.github.sparkjoinery.JoinerySession

/** Rows on their way elsewhere, while others in the task want their memory. */
class ReleasingRowsSuite extends JoinerySession {

  /**
   * @param wanted
   *   bytes that another consumer, who has all the rest already, asks for after each row from row `after` on
   */
  private def drain(rows: Int, wanted: Long, after: Int): ReleasingRowsSuite.Seen =
    spark.sparkContext.parallelize(Seq(0), 1).map(_ => ReleasingRowsSuite.run(rows, wanted, after)).collect().head

  for (rows <- Seq(0, 1, 10, 5000, 20000); after <- Seq(1, 3000); wanted <- Seq(0L, 4L << 10, 300L << 10)) {
    test(s"$rows rows, $wanted bytes wanted after each from row $after on") {
      val seen = drain(rows, wanted, after)
      assert(seen.ids.sorted == (0 until rows).map(_.toLong))
      assert(seen.leftAtEnd == 0, "bytes are held after the last row")
      assert(seen.excess <= (8L << 10), "bytes are held that are not accounted for")
      assert(seen.spilled == (wanted > 0 && rows >= 5000), "whether rows went to disk")
    }
  }
}

private object ReleasingRowsSuite {
  case class Seen(ids: Seq[Long], leftAtEnd: Long, excess: Long, spilled: Boolean)

  def run(rows: Int, wanted: Long, after: Int): Seen = {
    val context = TaskContext.get()
    val other = new ScarceMemory.Greedy
    val memory = TaskBuildMemory()
    val pages = new RowPages(memory)
    val toUnsafe = UnsafeProjection.create(Array[DataType](LongType, StringType))
    for (id <- 0 until rows) {
      val row = new GenericInternalRow(Array[Any](id.toLong, UTF8String.fromString("x" * (id % 300))))
      assert(pages.add(toUnsafe(row)) >= 0)
    }
    if (wanted > 0) other.take(1L << 50) // there is nothing left but what others give
    val drained = new ReleasingRows(pages, memory, numFields = 2)
    val ids = Seq.newBuilder[Long]
    var (excess, count) = (0L, 0)
    while (drained.hasNext) {
      ids += drained.next().getLong(0)
      count += 1
      if (count % 1000 == 0) excess = math.max(excess, HeldHeap.of(pages) - memory.acquired)
      if (count >= after && wanted > 0) other.take(wanted)
    }
    val left = memory.acquired
    other.giveBack()
    Seen(ids.result(), left, excess, context.taskMetrics().diskBytesSpilled > 0)
  }
}
