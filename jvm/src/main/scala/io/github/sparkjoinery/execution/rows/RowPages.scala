package io.github.sparkjoinery.execution.rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.joinery.BuildMemory
import org.apache.spark.unsafe.Platform

/**
 * Stores rows one after the other in a few byte arrays: no object per row, and fast to serialize.
 *
 * @param memory
 *   asked before each page is added
 */
final class RowPages(@transient private val memory: BuildMemory) extends Serializable {
  private var pages = new Array[Array[Byte]](4)
  private var ends = new Array[Int](4) // bytes used in all pages but the last
  private var count = 0
  private var end = 0 // bytes used in the last page

  /** @return the row's address, or -1 if there is no memory for it */
  def add(row: UnsafeRow): Long = {
    val size = row.getSizeInBytes
    if (count == 0 || pages(count - 1).length - end < size + RowPages.Header) {
      if (!addPage(size + RowPages.Header)) return -1
    }
    val address = (count - 1).toLong << 32 | end
    put(address, row)
    end += size + RowPages.Header
    address
  }

  /**
   * Replaces a row: in place if both are of the same length, else at the end.
   *
   * @return
   *   the new row's address; -1 if there is no memory for it, and the old row stays
   */
  def replace(address: Long, row: UnsafeRow): Long =
    if (sizeAt(address) == row.getSizeInBytes) { put(address, row); address }
    else {
      val added = add(row)
      if (added >= 0) Platform.putInt(pageOf(address), offset(address), -1 - sizeAt(address)) // deleted
      added
    }

  /** Removes the row that was added last. */
  def removeLast(address: Long): Unit = end = (address & 0xffffffffL).toInt

  def read(address: Long, row: UnsafeRow): UnsafeRow = {
    row.pointTo(pageOf(address), offset(address) + RowPages.Header, sizeAt(address))
    row
  }

  /** Prefetches a row by reading its length. */
  def touch(address: Long): Long = sizeAt(address)

  def bytes: Long = pages.iterator.take(count).map(page => if (page == null) 0L else page.length.toLong).sum

  /**
   * Takes over the pages of `others`, which must not be used any more.
   *
   * @return
   *   what to add to the addresses of `others`
   */
  def append(others: RowPages): Long = {
    if (count + others.count > pages.length) {
      pages = java.util.Arrays.copyOf(pages, count + others.count)
      ends = java.util.Arrays.copyOf(ends, count + others.count)
    }
    if (count > 0) ends(count - 1) = end
    System.arraycopy(others.pages, 0, pages, count, others.count)
    System.arraycopy(others.ends, 0, ends, count, others.count)
    val moved = count.toLong << 32
    if (others.count > 0) end = others.end
    count += others.count
    moved
  }

  /**
   * Copies a row and its header to a page.
   *
   * @param at
   *   the offset in `page`
   * @return
   *   bytes that the row takes; if the page has less room, nothing is copied
   */
  def copyTo(address: Long, page: Array[Byte], at: Int): Int = {
    val size = sizeAt(address) + RowPages.Header
    if (size <= page.length - at)
      Platform.copyMemory(pageOf(address), offset(address), page, Platform.BYTE_ARRAY_OFFSET + at, size)
    size
  }

  // access by page

  def numPages: Int = count

  def bytesOf(page: Int): Int = pages(page).length

  /** The addresses of a page's rows, without deleted ones. */
  def addressesOf(page: Int): Iterator[Long] = new Iterator[Long] {
    private val until = endOf(page)
    private var at = 0
    skip()
    override def hasNext: Boolean = at < until
    override def next(): Long = {
      val address = page.toLong << 32 | at
      at += sizeAt(address) + RowPages.Header
      skip()
      address
    }
    private def skip(): Unit = {
      var isDead = true
      while (isDead && at < until) {
        val size = sizeAt(page.toLong << 32 | at)
        isDead = size < 0
        if (isDead) at += -1 - size + RowPages.Header
      }
    }
  }

  /**
   * The addresses of all rows, page by page.
   *
   * @param number
   *   number of rows
   */
  def addresses(number: Int): Array[Long] = {
    val found = new Array[Long](number)
    var place = 0
    for (page <- 0 until count; address <- addressesOf(page)) {
      found(place) = address
      place += 1
    }
    found
  }

  private def endOf(page: Int): Int = if (page == count - 1) end else ends(page)

  /** Drops a page. Its rows must not be read any more; the caller releases the memory. */
  def drop(page: Int): Unit = pages(page) = null

  private def put(address: Long, row: UnsafeRow): Unit = {
    val page = pageOf(address)
    Platform.putInt(page, offset(address), row.getSizeInBytes)
    Platform.copyMemory(
      row.getBaseObject,
      row.getBaseOffset,
      page,
      offset(address) + RowPages.Header,
      row.getSizeInBytes)
  }

  private def pageOf(address: Long): Array[Byte] = pages((address >>> 32).toInt)

  private def sizeAt(address: Long): Int = Platform.getInt(pageOf(address), offset(address))

  private def offset(address: Long): Long = Platform.BYTE_ARRAY_OFFSET + (address & 0xffffffffL)

  private def addPage(atLeast: Int): Boolean = {
    val wanted =
      if (count == 0) RowPages.FirstPage else math.min(pages(count - 1).length.toLong * 2, RowPages.LargestPage).toInt
    val size = math.max(wanted, atLeast)
    if (!memory.acquire(size)) return false
    if (count == pages.length) {
      pages = java.util.Arrays.copyOf(pages, count * 2)
      ends = java.util.Arrays.copyOf(ends, count * 2)
    }
    if (count > 0) ends(count - 1) = end
    pages(count) = new Array[Byte](size)
    count += 1
    end = 0
    true
  }
}

object RowPages {
  private val Header = 8 // holds the row's length; 8 bytes keep rows aligned
  private val FirstPage = 16 << 10

  /**
   * Most bytes of a page, unless one row is longer. Larger arrays can be humongous objects of G1, which are expensive
   * to collect.
   */
  val LargestPage: Int = 256 << 10

  /** Wraps full pages. No row can be added. */
  def wrap(pages: Array[Array[Byte]]): RowPages = {
    val rows = new RowPages(null)
    rows.pages = pages
    rows.ends = pages.map(_.length)
    rows.count = pages.length
    rows.end = rows.ends.lastOption.getOrElse(0)
    rows
  }
}
