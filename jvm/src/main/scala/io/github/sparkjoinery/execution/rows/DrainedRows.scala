package io.github.sparkjoinery.execution.rows

import java.util.concurrent.locks.ReentrantLock

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.joinery.{BuildMemory, SpilledRows}

/**
 * Rows that leave their pages, in no order. A page's memory is released once it has been read, and whoever in the task
 * needs memory before gets that of the pages still to be read: their rows go to disk. So what is held is what is
 * accounted for, and yet it stands in nobody's way.
 *
 * @param pages
 *   nobody else may use them any more
 * @param memory
 *   of these pages; what it has acquired beyond them is released at once
 */
final class DrainedRows(pages: RowPages, memory: BuildMemory, numFields: Int) extends Iterator[UnsafeRow] {
  private val context = TaskContext.get()
  private val lock = new ReentrantLock // rows may be asked for in one thread, memory in another
  private var page = -1 // that is being read
  private var addresses: Iterator[Long] = Iterator.empty
  private var until = pages.numPages // of those to be read from memory
  private var spilled: List[SpilledRows] = Nil
  private var fromDisk: Iterator[UnsafeRow] = Iterator.empty
  private var row = new UnsafeRow(numFields)

  memory.release(memory.acquired - pages.bytes)
  memory.giveBy(give)

  override def hasNext: Boolean = addresses.hasNext || fromDisk.hasNext || goOn()

  /** Good until the next one is asked for. */
  override def next(): UnsafeRow =
    if (!hasNext) Iterator.empty.next()
    else if (addresses.hasNext) pages.read(addresses.next(), row)
    else fromDisk.next()

  /** To the next page or file, if there is one. */
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
    row = new UnsafeRow(numFields) // the last one may be in use still
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

  /** Spills at least so many bytes, of what there is; and a good part of it, so that there are few files. */
  private[sparkjoinery] def give(bytes: Long): Long = if (lock.isHeldByCurrentThread || !lock.tryLock()) 0
  else
    try {
      val unread = page + 1
      if (unread >= until) 0
      else {
        val wanted = math.max(bytes, bytesOf(unread, until) / DrainedRows.FewestFiles)
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

private object DrainedRows {
  private val FewestFiles = 4
}
