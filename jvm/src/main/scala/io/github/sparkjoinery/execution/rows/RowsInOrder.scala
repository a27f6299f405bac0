package io.github.sparkjoinery.execution.rows

import org.apache.spark.sql.joinery.InParallel

/** Copies rows to new pages in a given order. */
object RowsInOrder {
  private val Ahead = 16
  private val LeastRows = 4096 // per thread

  /**
   * @param addresses
   *   addresses of the rows in the wanted order; those in [from, until) are copied
   * @param give
   *   receives each page and its number of filled bytes; the page is reused after it returns
   */
  def foreachPage(rows: RowPages, addresses: Array[Long], from: Int, until: Int)(
      give: (Array[Byte], Int) => Unit): Unit = {
    var page = new Array[Byte](RowPages.LargestPage)
    var end = 0
    def flush(): Unit = if (end > 0) {
      give(page, end)
      end = 0
    }
    def add(address: Long): Unit = {
      var size = rows.copyTo(address, page, end)
      if (size > page.length - end) {
        flush()
        if (size > page.length) page = new Array[Byte](size)
        size = rows.copyTo(address, page, end)
      }
      end += size
    }
    var place = from
    var touched = 0L
    while (place < until) {
      // rows are at random positions: prefetch several at a time
      val soon = math.min(place + Ahead, until)
      var next = place
      while (next < soon) { touched += rows.touch(addresses(next)); next += 1 }
      while (place < soon) {
        add(addresses(place))
        place += 1
      }
    }
    flush()
    if (touched < 0) throw new IllegalStateException("a row without a length") // keeps `touched` in use
  }

  /**
   * Copies all rows, with several threads.
   *
   * @return
   *   the new pages and the rows' addresses in them
   */
  def apply(rows: RowPages, addresses: Array[Long]): (RowPages, Array[Long]) = {
    val threads = Runtime.getRuntime.availableProcessors
    val each = math.max(LeastRows, (addresses.length + threads - 1) / threads)
    val pages = InParallel((0 until addresses.length by each).toSeq, "joinery-rows-in-order") { from =>
      val filled = Array.newBuilder[Array[Byte]]
      foreachPage(rows, addresses, from, math.min(from + each, addresses.length)) { (page, end) =>
        filled += java.util.Arrays.copyOf(page, end)
      }
      filled.result()
    }
    val moved = RowPages.wrap(pages.flatten.toArray)
    (moved, moved.addresses(addresses.length))
  }
}
