package io.github.sparkjoinery.execution.rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * Rows one behind the other in a few byte arrays: no object per row, and quick to ship.
 *
 * @param memory asked before each growth
 */
final class RowPages(@transient private val memory: BuildMemory) extends Serializable {
  private var pages = new Array[Array[Byte]](4)
  private var count = 0
  private var end = 0 // of the last page

  /** @return where the row is now, or -1 if there is no memory for it */
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

  /** Puts a row in another's place if it is as long, else beside it. */
  def replace(address: Long, row: UnsafeRow): Long =
    if (sizeAt(address) == row.getSizeInBytes) { put(address, row); address } else add(row)

  def read(address: Long, row: UnsafeRow): UnsafeRow = {
    row.pointTo(pages((address >>> 32).toInt), offset(address) + RowPages.Header, sizeAt(address))
    row
  }

  /** Reads a little of a row, so that the rest of it is on its way to the cache. */
  def touch(address: Long): Long = sizeAt(address)

  /** Drops pages before that of a row: rows on them are read no more. @return their bytes */
  def dropBefore(address: Long): Long = {
    var (page, dropped) = ((address >>> 32).toInt - 1, 0L)
    while (page >= 0 && pages(page) != null) {
      dropped += pages(page).length
      pages(page) = null
      page -= 1
    }
    dropped
  }

  def bytes: Long = pages.iterator.take(count).filter(_ != null).map(_.length.toLong).sum

  private def put(address: Long, row: UnsafeRow): Unit = {
    val page = pages((address >>> 32).toInt)
    Platform.putInt(page, offset(address), row.getSizeInBytes)
    Platform.copyMemory(row.getBaseObject, row.getBaseOffset, page, offset(address) + RowPages.Header, row.getSizeInBytes)
  }

  private def sizeAt(address: Long): Int = Platform.getInt(pages((address >>> 32).toInt), offset(address))

  private def offset(address: Long): Long = Platform.BYTE_ARRAY_OFFSET + (address & 0xffffffffL)

  private def addPage(atLeast: Int): Boolean = {
    val wanted = if (count == 0) RowPages.FirstPage else math.min(pages(count - 1).length.toLong * 2, RowPages.LargestPage).toInt
    val size = math.max(wanted, atLeast)
    if (!memory.acquire(size)) return false
    if (count == pages.length) pages = java.util.Arrays.copyOf(pages, count * 2)
    pages(count) = new Array[Byte](size)
    count += 1
    end = 0
    true
  }
}

object RowPages {
  private val Header = 8 // the row's length; rows begin at multiples of 8
  private val FirstPage = 16 << 10
  private val LargestPage = 256 << 10 // larger arrays get heap regions of their own, which are dear to collect
}
