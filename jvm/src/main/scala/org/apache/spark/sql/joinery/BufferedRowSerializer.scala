package org.apache.spark.sql.joinery

import java.io.{EOFException, InputStream, OutputStream}
import java.nio.ByteBuffer

import scala.reflect.ClassTag

import org.apache.spark.serializer.{DeserializationStream, SerializationStream, Serializer, SerializerInstance}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.unsafe.Platform

/**
 * Writes and reads the rows of a shuffle in the format of Spark's `UnsafeRowSerializer`: the size of a row, then its
 * bytes. Rows are copied through one buffer. Spark's streams make several calls for each row, and some calls take a
 * lock.
 *
 * @param dataSize
 *   counts the bytes of all rows that are written
 */
final class BufferedRowSerializer(numFields: Int, dataSize: SQLMetric) extends Serializer with Serializable {
  override def newInstance(): SerializerInstance = new BufferedRowSerializerInstance(numFields, dataSize)
  override private[spark] def supportsRelocationOfSerializedObjects: Boolean = true
}

private final class BufferedRowSerializerInstance(numFields: Int, dataSize: SQLMetric) extends SerializerInstance {
  override def serializeStream(out: OutputStream): SerializationStream = new BufferedRowOutput(out, dataSize)
  override def deserializeStream(in: InputStream): DeserializationStream = new BufferedRowInput(in, numFields)

  override def serialize[T: ClassTag](t: T): ByteBuffer = throw new UnsupportedOperationException
  override def deserialize[T: ClassTag](bytes: ByteBuffer): T = throw new UnsupportedOperationException
  override def deserialize[T: ClassTag](bytes: ByteBuffer, loader: ClassLoader): T =
    throw new UnsupportedOperationException
}

private object BufferedRowSerializer {
  val SizeBytes = 4
  val SmallestBuffer: Int = 8 << 10 // most streams of a wide shuffle are short
  val LargestBuffer: Int = 64 << 10
}

private final class BufferedRowOutput(out: OutputStream, dataSize: SQLMetric) extends SerializationStream {
  import BufferedRowSerializer._

  private val buffer = new Array[Byte](SmallestBuffer)
  private val bytes = ByteBuffer.wrap(buffer)
  private var end = 0

  /** Writes nothing: the key is the number of the partition, which readers know. */
  override def writeKey[T: ClassTag](key: T): SerializationStream = this

  override def writeValue[T: ClassTag](value: T): SerializationStream = {
    val row = value.asInstanceOf[UnsafeRow]
    val size = row.getSizeInBytes
    dataSize.add(size)
    if (buffer.length - end < SizeBytes + size) drain()
    bytes.putInt(end, size)
    end += SizeBytes
    if (size <= buffer.length - end) {
      row.writeToMemory(buffer, Platform.BYTE_ARRAY_OFFSET + end)
      end += size
    } else {
      drain()
      row.writeToStream(out, buffer)
    }
    this
  }

  private def drain(): Unit = if (end > 0) {
    out.write(buffer, 0, end)
    end = 0
  }

  override def flush(): Unit = {
    drain()
    out.flush()
  }

  override def close(): Unit = {
    drain()
    out.close()
  }

  override def writeObject[T: ClassTag](t: T): SerializationStream = throw new UnsupportedOperationException
  override def writeAll[T: ClassTag](iterator: Iterator[T]): SerializationStream =
    throw new UnsupportedOperationException
}

private final class BufferedRowInput(in: InputStream, numFields: Int) extends DeserializationStream {
  override def asKeyValueIterator: Iterator[(Any, Any)] = new BufferedRows(in, numFields)
  override def close(): Unit = in.close()

  override def asIterator: Iterator[Any] = throw new UnsupportedOperationException
  override def readKey[T: ClassTag](): T = throw new UnsupportedOperationException
  override def readValue[T: ClassTag](): T = throw new UnsupportedOperationException
  override def readObject[T: ClassTag](): T = throw new UnsupportedOperationException
}

/**
 * The rows of a stream, each with the key 0. A row is a view of the buffer, and is valid until `next` is called. When a
 * buffer is used up, its rest moves to another one, and the row in the first stays.
 */
private final class BufferedRows(in: InputStream, numFields: Int) extends Iterator[(Any, Any)] {
  import BufferedRowSerializer._
  import BufferedRows._

  private var buffer = new Array[Byte](SmallestBuffer)
  private var other = Array.emptyByteArray
  private var at = 0
  private var end = 0
  private var rowSize = Unread
  private val row = new UnsafeRow(numFields)
  private val pair: (Any, Any) = (0, row)

  override def hasNext: Boolean = {
    if (rowSize == Unread) rowSize = readSize()
    rowSize != Ended
  }

  override def next(): (Any, Any) = {
    if (!hasNext) Iterator.empty.next()
    if (end - at < rowSize && !fill(rowSize)) throw new EOFException(s"${end - at} bytes of a row of $rowSize")
    row.pointTo(buffer, Platform.BYTE_ARRAY_OFFSET + at, rowSize)
    at += rowSize
    rowSize = Unread
    pair
  }

  private def readSize(): Int =
    if (end - at >= SizeBytes || fill(SizeBytes)) {
      val size = ByteBuffer.wrap(buffer).getInt(at)
      at += SizeBytes
      size
    } else if (at < end) throw new EOFException(s"${end - at} bytes of the size of a row")
    else {
      in.close()
      Ended
    }

  /** Reads until the buffer has a number of bytes. False if the stream ends before. */
  private def fill(wanted: Int): Boolean = {
    val rest = end - at
    val length = math.max(wanted, math.min(buffer.length * 4, LargestBuffer))
    val into = if (other.length >= length) other else new Array[Byte](length)
    System.arraycopy(buffer, at, into, 0, rest)
    other = buffer
    buffer = into
    at = 0
    end = rest
    var read = 0
    while (end < wanted && read >= 0) {
      read = in.read(buffer, end, buffer.length - end)
      if (read > 0) end += read
    }
    end >= wanted
  }
}

private object BufferedRows {
  private val Unread = -2
  private val Ended = -1
}
