package io.github.sparkjoinery.rangejoin.runtime.index

import java.io._

import org.apache.spark.sql.joinery.CompressedBytes
import org.apache.spark.unsafe.Platform

import io.github.sparkjoinery.execution.rows.{RowPages, RowsInOrder}

/**
 * Rows of a task in the order of an index without keys, compressed. The starts come first, then the ends if the rows
 * are intervals. The rows follow page by page, as an index has them in memory.
 *
 * @param rowsRead
 *   the number of rows that the task read for this run, including rows that no index keeps
 * @param numBounded
 *   the number of rows that have bounds
 * @param numOthers
 *   the number of rows after them, which cannot match
 * @param prefix
 *   the prefix of the texts in the bounds
 * @param pages
 *   the number of pages
 * @param pageBytes
 *   bytes of all pages
 */
private[rangejoin] final class RangeRun private (
    val rowsRead: Long,
    val numBounded: Int,
    val numOthers: Int,
    hasEnds: Boolean,
    val prefix: Array[Byte],
    val pages: Int,
    val pageBytes: Long,
    compressed: CompressedBytes) extends Serializable {

  def numRows: Int = numBounded + numOthers

  /** @param firstPage the number that its first page will have */
  def read(firstPage: Int): RangeRun.Rows = {
    val in = new DataInputStream(compressed.read())
    try {
      val starts = RangeRun.readLongs(in, numBounded)
      val ends = if (hasEnds) RangeRun.readLongs(in, numBounded) else null
      val filled = Array.fill(pages) {
        val page = new Array[Byte](in.readInt())
        in.readFully(page)
        page
      }
      val addresses = RowPages.wrap(filled).addresses(numRows)
      var place = 0
      while (place < numRows) { addresses(place) += firstPage.toLong << 32; place += 1 }
      RangeRun.Rows(starts, ends, addresses, filled)
    } finally in.close()
  }
}

private[rangejoin] object RangeRun {

  /**
   * The decompressed rows.
   *
   * @param addresses
   *   addresses of all rows, including those without bounds
   */
  private[index] case class Rows(
      starts: Array[Long],
      ends: Array[Long],
      addresses: Array[Long],
      pages: Array[Array[Byte]])

  /** A run of the rows of an index without keys. */
  def apply(index: RangeIndex, rowsRead: Long): RangeRun = {
    val bounded = index.starts.length
    var (pages, pageBytes) = (0, 0L)
    val compressed = CompressedBytes.written { bytes =>
      val out = new DataOutputStream(bytes)
      writeLongs(out, index.starts)
      if (index.ends != null) writeLongs(out, index.ends)
      writeRows(out, index) { bytes => pages += 1; pageBytes += bytes }
    }
    new RangeRun(
      rowsRead,
      bounded,
      index.numRows - bounded,
      index.ends != null,
      index.prefix,
      pages,
      pageBytes,
      compressed)
  }

  /**
   * Writes the rows in the order of their places.
   *
   * @param told
   *   takes the number of bytes of each page
   */
  private def writeRows(out: DataOutputStream, index: RangeIndex)(told: Int => Unit): Unit =
    RowsInOrder.foreachPage(index.pages, index.addresses, 0, index.addresses.length) { (page, end) =>
      out.writeInt(end)
      out.write(page, 0, end)
      told(end)
    }

  private val ChunkBytes = 64 << 10
  private def chunk = new Array[Byte](ChunkBytes)

  private def writeLongs(out: OutputStream, values: Array[Long]): Unit =
    inChunks(values.length) { (buffer, from, bytes) =>
      Platform.copyMemory(values, Platform.LONG_ARRAY_OFFSET + from, buffer, Platform.BYTE_ARRAY_OFFSET, bytes)
      out.write(buffer, 0, bytes)
    }

  private def readLongs(in: DataInputStream, count: Int): Array[Long] = {
    val values = new Array[Long](count)
    inChunks(count) { (buffer, from, bytes) =>
      in.readFully(buffer, 0, bytes)
      Platform.copyMemory(buffer, Platform.BYTE_ARRAY_OFFSET, values, Platform.LONG_ARRAY_OFFSET + from, bytes)
    }
    values
  }

  /**
   * Copies longs through a buffer.
   *
   * @param move
   *   gets the buffer, the offset in the array in bytes, and the number of bytes
   */
  private def inChunks(longs: Int)(move: (Array[Byte], Long, Int) => Unit): Unit = {
    val (buffer, total) = (chunk, longs * 8L)
    var from = 0L
    while (from < total) {
      val bytes = math.min(total - from, ChunkBytes).toInt
      move(buffer, from, bytes)
      from += bytes
    }
  }
}
