package org.apache.spark.sql.joinery

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, RandomAccessFile}
import java.util.concurrent.locks.ReentrantLock

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.{SparkEnv, TaskContext}

/**
 * Keeps rows that are read several times, from any row on. Blocks are in memory that Spark's memory manager grants, or
 * in one file that all readers share. If another operator of the task needs memory, blocks move to the file.
 *
 * Spark's `ExternalAppendOnlyUnsafeRowArray` does not suit: each of its readers opens all spill files, with a thread
 * and megabytes of buffers for each, and holds them until the task ends.
 *
 * @param numFields
 *   number of fields in a row
 * @param limits
 *   rows beyond these limits go to disk, as in Spark's own operator
 * @param memory
 *   accounts for the blocks
 */
class ReplayedRows(numFields: Int, limits: SpillLimits, memory: BuildMemory) {
  import ReplayedRows._

  private val lock = new ReentrantLock // one thread may read rows while another asks for memory
  private val blocks = mutable.ArrayBuffer.empty[Block]
  private var last = new Array[Byte](BlockSize) // the block being filled
  private var lastRow = 0 // its first row
  private var end = 0 // its used bytes
  private var file: SpilledBlocks = _

  memory.giveBy(give)

  /** Number of rows. */
  var size = 0

  /** Bytes written to disk so far, compressed. */
  def spillSize: Long = if (file == null) 0 else file.written

  def add(row: UnsafeRow): Unit = {
    val needed = row.getSizeInBytes + Header
    if (end + needed > last.length || size - lastRow >= limits.rows) {
      if (end > 0) seal()
      if (needed > last.length) last = new Array[Byte](needed)
    }
    Platform.putInt(last, Platform.BYTE_ARRAY_OFFSET + end, row.getSizeInBytes)
    Platform.copyMemory(
      row.getBaseObject,
      row.getBaseOffset,
      last,
      Platform.BYTE_ARRAY_OFFSET + end + Header,
      row.getSizeInBytes)
    end += needed
    size += 1
  }

  private def seal(): Unit = {
    val fits = size <= limits.rows && memory.acquired + last.length <= limits.bytes && memory.acquire(last.length)
    locked {
      if (fits) {
        blocks += Block(lastRow, end, last, 0, 0)
        last = new Array[Byte](BlockSize)
      } else blocks += onDisk(Block(lastRow, end, last, 0, 0))
    }
    lastRow = size
    end = 0
  }

  private def onDisk(block: Block): Block = {
    if (file == null) file = new SpilledBlocks
    val (offset, stored) = file.write(block.bytes, block.length)
    block.copy(bytes = null, offset = offset, stored = stored)
  }

  /**
   * Spills blocks of at least this many bytes, as far as there are any. It spills no less than half of them, since an
   * operator that asks once usually asks again.
   */
  private def give(bytes: Long): Long = if (lock.isHeldByCurrentThread || !lock.tryLock()) 0
  else
    try {
      val wanted = math.max(bytes, memory.acquired / 2)
      var given = 0L
      var i = blocks.length - 1
      while (i >= 0 && given < wanted) {
        val block = blocks(i)
        if (block.bytes != null) {
          given += block.bytes.length
          blocks(i) = onDisk(block)
        }
        i -= 1
      }
      memory.release(given)
      given
    } finally lock.unlock()

  private def locked[T](body: => T): T = {
    lock.lock()
    try body
    finally lock.unlock()
  }

  /** Removes all rows; existing readers must not be used any more. */
  def clear(): Unit = locked {
    blocks.clear()
    if (last.length > BlockSize) last = new Array[Byte](BlockSize)
    lastRow = 0
    end = 0
    size = 0
    memory.release(memory.acquired)
    if (file != null) file.clear()
  }

  /** Releases memory and deletes the file. */
  def close(): Unit = {
    clear()
    locked(if (file != null) file.close())
  }

  /** Makes a reader that starts at a row. No row may be added afterwards. */
  def reader(from: Int): Reader = new Reader(from)

  final class Reader private[joinery] (from: Int) {
    private val row = new UnsafeRow(numFields)
    private var next = math.min(from, size)
    private var block = -1
    private var bytes: Array[Byte] = _
    private var buffer: Array[Byte] = _
    private var at, until = 0
    if (next < size) find()

    /** Returns the next row, or null after the last. The following call overwrites the row. */
    def read(): UnsafeRow =
      if (next == size) null
      else {
        if (at == until) open(block + 1)
        val length = Platform.getInt(bytes, Platform.BYTE_ARRAY_OFFSET + at)
        row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET + at + Header, length)
        at += length + Header
        next += 1
        row
      }

    private def find(): Unit = {
      var (low, high) = (0, blocks.length) // the block after the last is the one being filled
      while (low < high) {
        val middle = (low + high + 1) >>> 1
        if (firstOf(middle) <= next) low = middle else high = middle - 1
      }
      open(low)
      var i = firstOf(low)
      while (i < next) { at += Platform.getInt(bytes, Platform.BYTE_ARRAY_OFFSET + at) + Header; i += 1 }
    }

    private def firstOf(block: Int): Int = if (block == blocks.length) lastRow else blocks(block).first

    private def open(number: Int): Unit = {
      block = number
      at = 0
      if (number == blocks.length) { bytes = last; until = end }
      else
        locked {
          val Block(_, length, inMemory, offset, stored) = blocks(number)
          if (inMemory != null) bytes = inMemory
          else {
            if (buffer == null || buffer.length < length) buffer = new Array[Byte](length)
            file.read(offset, stored, buffer, length)
            bytes = buffer
          }
          until = length
        }
    }
  }
}

private object ReplayedRows {
  private val BlockSize = 64 << 10
  private val Header = 8 // holds the row's length; 8 bytes keep rows aligned

  /**
   * @param first
   *   number of the first row
   * @param length
   *   bytes of rows
   * @param bytes
   *   null if the block is in the file, at `offset` and `stored` bytes long
   */
  private case class Block(first: Int, length: Int, bytes: Array[Byte], offset: Long, stored: Int)

  /** The file of spilled blocks. Each block is compressed and encrypted on its own, as configured for spills. */
  private final class SpilledBlocks {
    private val (id, path) = SparkEnv.get.blockManager.diskBlockManager.createTempLocalBlock()
    private val file = new RandomAccessFile(path, "rw")
    private val metrics = TaskContext.get().taskMetrics()
    private var length = 0L
    var written = 0L

    def write(bytes: Array[Byte], count: Int): (Long, Int) = {
      val stored = new ByteArrayOutputStream(count)
      val stream = SparkEnv.get.serializerManager.wrapStream(id, stored)
      stream.write(bytes, 0, count)
      stream.close()
      val offset = length
      file.seek(offset)
      file.write(stored.toByteArray)
      length += stored.size
      written += stored.size
      metrics.incDiskBytesSpilled(stored.size)
      metrics.incMemoryBytesSpilled(count)
      (offset, stored.size)
    }

    def read(offset: Long, stored: Int, into: Array[Byte], count: Int): Unit = {
      val bytes = new Array[Byte](stored)
      file.seek(offset)
      file.readFully(bytes)
      val stream = new DataInputStream(SparkEnv.get.serializerManager.wrapStream(id, new ByteArrayInputStream(bytes)))
      try stream.readFully(into, 0, count)
      finally stream.close()
    }

    def clear(): Unit = if (length > 0) { file.setLength(0); length = 0 }

    def close(): Unit = {
      length = 0
      file.close()
      path.delete()
    }
  }
}
