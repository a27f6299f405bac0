package io.github.sparkjoinery.execution.rows

import java.util.concurrent.locks.ReentrantLock

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.joinery.{BuildMemory, SpilledRows}

/**
 * Iterates over the rows of pages, page after page, and frees each page after reading it. Other consumers of the task
 * may claim the memory of unread pages; their rows are then spilled. The order is that in which rows were added.
 *
 * @param pages
 *   owned by this iterator from now on
 * @param memory
 *   accounts for these pages; anything acquired beyond them is released at once
 */
final class ReleasingRows(pages: RowPages, memory: BuildMemory, numFields: Int) extends Iterator[UnsafeRow] {
  private val context = TaskContext.get()
  private val lock = new ReentrantLock // one thread may read rows while another asks for memory
  private var page = -1 // the page being read
  private var addresses: Iterator[Long] = Iterator.empty
  private var until = pages.numPages // end of the pages still to be read from memory
  private var spilled: List[SpilledRows] = Nil
  private var fromDisk: Iterator[UnsafeRow] = Iterator.empty
  private var row = new UnsafeRow(numFields)

  memory.release(memory.acquired - pages.bytes)
  memory.giveBy(give)

  override def hasNext: Boolean = addresses.hasNext || fromDisk.hasNext || goOn()

  /** Returns the next row; the call after it may overwrite the row. */
  override def next(): UnsafeRow =
    if (!hasNext) Iterator.empty.next()
    else if (addresses.hasNext) pages.read(addresses.next(), row)
    else fromDisk.next()

  /** Moves on to the next page or file with rows. */
  private def goOn(): Boolean = {
    lock.lock()
    try {
      while (!addresses.hasNext && page < until) nextPage()
      while (!addresses.hasNext && !fromDisk.hasNext && spilled.nonEmpty) {
        fromDisk = spilled.head.read(numFields)
        spilled = spilled.tail
      }
      addresses.hasNext || fromDisk.hasNext
    } finally lock.unlock()
  }

  private def nextPage(): Unit = {
    if (page >= 0) dropPages(page, page + 1)
    row = new UnsafeRow(numFields) // the caller may still use the last row
    page += 1
    addresses = if (page < until) pages.addressesOf(page) else Iterator.empty
  }

  private def dropPages(from: Int, until: Int): Long = {
    val bytes = bytesOf(from, until)
    (from until until).foreach(pages.drop)
    memory.release(bytes)
    bytes
  }

  private def bytesOf(from: Int, until: Int): Long = (from until until).iterator.map(pages.bytesOf(_).toLong).sum

  private def rowsOf(page: Int): Iterator[UnsafeRow] = {
    val row = new UnsafeRow(numFields)
    pages.addressesOf(page).map(pages.read(_, row))
  }

  private def countOf(from: Int, until: Int): Int = (from until until).iterator.map(pages.addressesOf(_).length).sum

  /**
   * Spills pages of at least this many bytes, as far as there are any. It spills no less than a quarter of the unread
   * pages, to keep the files few.
   */
  private[sparkjoinery] def give(bytes: Long): Long = if (lock.isHeldByCurrentThread || !lock.tryLock()) 0
  else
    try {
      val unread = page + 1
      if (unread >= until) 0
      else {
        val wanted = math.max(bytes, bytesOf(unread, until) / ReleasingRows.FewestFiles)
        var from = until - 1
        while (from > unread && bytesOf(from, until) < wanted) from -= 1
        val rows = (from until until).iterator.flatMap(rowsOf)
        spilled ::= SpilledRows.write(context, rows, countOf(from, until), bytesOf(from, until))
        val given = dropPages(from, until)
        until = from
        given
      }
    } finally lock.unlock()
}

private object ReleasingRows {
  private val FewestFiles = 4
}
