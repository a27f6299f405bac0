package io.github.sparkjoinery.execution.rows

import org.apache.spark.sql.joinery.InParallel

/** Copies of rows, one behind the other in an order, on pages of their own. */
object RowsInOrder {
  private val Ahead = 16
  private val LeastRows = 4096 // in a thread

  /**
   * @param addresses
   *   of the rows, in the order that is wanted, from a place on and up to another
   * @param give
   *   gets each page and how many bytes of it are filled, and must have done with it when it returns
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
      // rows lie anywhere: several are on their way to the cache at a time
      val soon = math.min(place + Ahead, until)
      var next = place
      while (next < soon) { touched += rows.touch(addresses(next)); next += 1 }
      while (place < soon) {
        add(addresses(place))
        place += 1
      }
    }
    flush()
    if (touched < 0) throw new IllegalStateException("a row without a length") // so that nothing is left out as unused
  }

  /** All of the rows, and where they are now, by several threads. */
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
    val moved = RowPages.of(pages.flatten.toArray)
    (moved, moved.addresses(addresses.length))
  }
}
