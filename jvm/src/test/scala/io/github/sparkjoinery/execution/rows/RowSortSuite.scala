package io.github.sparkjoinery.execution.rows

import java.lang.management.ManagementFactory
import java.util.Comparator

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType}

/** Sorting ranges of longs and addresses: the order, its stability, and the memory that a sort takes. */
class RowSortSuite extends AnyFunSuite {

  private val toUnsafe = UnsafeProjection.create(Array[DataType](LongType))

  /** Compares rows so that ten neighbours are equal. */
  private val byTens: Comparator[UnsafeRow] = (a, b) => java.lang.Long.compare(a.getLong(0) / 10, b.getLong(0) / 10)

  private final class Range(size: Int, times: Int) {
    private val random = new Random(size)
    private val pages = new RowPages(new WatchedMemory)
    private val ids = random.shuffle((0L until size.toLong).toVector)
    private val addresses = ids.map(id => pages.add(toUnsafe(new GenericInternalRow(Array[Any](id))))).toArray
    private val at = Array.fill(size)(random.nextInt(times).toLong - times / 2)
    private val before = at.toSeq.zip(ids)

    /** Sorts, compares with Scala's stable sort, and returns the bytes that the sort allocated. */
    def check(ties: Comparator[UnsafeRow]): Long = {
      val sort = new RowSort(at, addresses, RowSort.byRows(pages, ties, numFields = 1))
      val allocatedBefore = RowSortSuite.allocated
      sort.sort(0, size)
      val bytes = RowSortSuite.allocated - allocatedBefore
      val row = new UnsafeRow(1)
      val expected = if (ties == null) before.sortBy(_._1) else before.sortBy { case (time, id) => (time, id / 10) }
      assert(at.toSeq.zip(addresses.map(pages.read(_, row).getLong(0))) == expected)
      bytes
    }
  }

  for (size <- Seq(0, 1, 17, 1000, 4096, 4097, 50000); times <- Seq(1, 40, 1000000); ties <- Seq(true, false)) {
    test(s"$size rows of $times times, ties ${if (ties) "by their rows" else "as they came"}") {
      new Range(size, times).check(if (ties) byTens else null)
    }
  }

  test("each range between neighbouring starts is sorted alone") {
    val (longs, handles) = (Array[Long](3, 1, 2, 9, 8, 7, 5), Array.range(0, 7).map(_.toLong))
    new RowSort(longs, handles, null).sortEach(Array(0, 3, 3, 6))
    assert(longs.toSeq == Seq[Long](1, 2, 3, 7, 8, 9, 5) && handles.toSeq == Seq[Long](1, 2, 0, 5, 4, 3, 6))
  }

  test("a sort allocates the bytes that it announces") {
    new Range(5000, 1000000).check(null) // loads classes
    for (size <- Seq(4097, 10000, 200000)) {
      val bytes = new Range(size, 1 << 30).check(null)
      assert(bytes <= RowSort.scratch(size) + RowSortSuite.Constant, s"$size rows")
      assert(bytes >= RowSort.scratch(size), s"$size rows")
    }
  }
}

private object RowSortSuite {
  private val threads = ManagementFactory.getThreadMXBean.asInstanceOf[com.sun.management.ThreadMXBean]

  /** Bytes that this thread has ever allocated. */
  def allocated: Long = threads.getThreadAllocatedBytes(Thread.currentThread.getId)

  /** Bytes for the counters of a radix sort. */
  val Constant: Long = 256L << 10
}
