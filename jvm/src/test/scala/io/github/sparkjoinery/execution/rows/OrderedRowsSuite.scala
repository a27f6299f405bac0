package io.github.sparkjoinery.execution.rows

import java.lang.management.ManagementFactory
import java.util.Comparator

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType}

/** Sorting stretches of times and addresses: the order, and the memory that it takes. */
class OrderedRowsSuite extends AnyFunSuite {

  private val toUnsafe = UnsafeProjection.create(Array[DataType](LongType))
  private val byRow: Comparator[UnsafeRow] = (a, b) => java.lang.Long.compare(a.getLong(0), b.getLong(0))

  private final class Stretch(size: Int, times: Int) {
    private val random = new Random(size)
    private val pages = new RowPages(new WatchedMemory)
    private val ids = random.shuffle((0L until size.toLong).toVector)
    val addresses: Array[Long] = ids.map(id => pages.add(toUnsafe(new GenericInternalRow(Array[Any](id))))).toArray
    val at: Array[Long] = Array.fill(size)(random.nextInt(times).toLong - times / 2)
    private val expected = at.toSeq.zip(ids).sorted
    private val row = new UnsafeRow(1)
    def sorted: Seq[(Long, Long)] = at.toSeq.zip(addresses.map(pages.read(_, row).getLong(0)))

    def check(ties: Comparator[UnsafeRow]): Long = {
      val order = new OrderedRows(at, addresses, pages, ties, numFields = 1)
      val before = OrderedRowsSuite.allocated
      order.sort(0, size)
      val bytes = OrderedRowsSuite.allocated - before
      if (ties == null) assert(sorted.map(_._1) == expected.map(_._1) && sorted.map(_._2).toSet == ids.toSet)
      else assert(sorted == expected)
      bytes
    }
  }

  for (size <- Seq(0, 1, 17, 1000, 4096, 4097, 50000); times <- Seq(1, 40, 1000000); ties <- Seq(true, false)) {
    test(s"$size rows of $times times, ties ${if (ties) "by their rows" else "in any order"}") {
      new Stretch(size, times).check(if (ties) byRow else null)
    }
  }

  test("what a sort takes is what it says that it takes") {
    new Stretch(5000, 1000000).check(null) // loads classes
    for (size <- Seq(4097, 10000, 200000)) {
      val bytes = new Stretch(size, 1 << 30).check(null)
      assert(bytes <= OrderedRows.scratch(size) + OrderedRowsSuite.Constant, s"$size rows")
      assert(bytes >= OrderedRows.scratch(size), s"$size rows")
    }
  }
}

private object OrderedRowsSuite {
  private val threads = ManagementFactory.getThreadMXBean.asInstanceOf[com.sun.management.ThreadMXBean]

  /** Bytes that this thread has ever allocated. */
  def allocated: Long = threads.getThreadAllocatedBytes(Thread.currentThread.getId)

  /** What a radix sort counts in. */
  val Constant: Long = 256L << 10
}
