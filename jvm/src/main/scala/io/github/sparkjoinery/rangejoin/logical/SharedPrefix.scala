package io.github.sparkjoinery.rangejoin.logical

import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/**
 * The bytes that all texts of an index begin with. The index sorts a text by the eight bytes after them. A text of the
 * other side that begins with other bytes lies before or after all texts of the index.
 *
 * Expressions are created before the index exists. They hold this object, and the search sets its bytes.
 */
private[rangejoin] class SharedPrefix(private var bytes: Array[Byte] = Array.emptyByteArray) extends Serializable {

  def set(bytes: Array[Byte]): Unit = this.bytes = bytes

  def longOf(text: Array[Byte]): Long = longOf(UTF8String.fromBytes(text))

  def longOf(text: UTF8String): Long =
    if (bytes.length == 0) SharedPrefix.leading(text)
    else {
      val (length, most) = (text.numBytes, math.min(text.numBytes, bytes.length))
      val same = SharedPrefix.sameBytes(text, bytes, most)
      if (same == bytes.length) SharedPrefix.leading(SharedPrefix.behind(text, same))
      else if (same == length || (SharedPrefix.byte(text, same) & 0xff) < (bytes(same) & 0xff)) Long.MinValue
      else Long.MaxValue
    }

  // Expressions are compared before the bytes are known.
  override def equals(other: Any): Boolean = other.isInstanceOf[SharedPrefix]
  override def hashCode: Int = 0
}

private[rangejoin] object SharedPrefix {

  // Spark's prefixes are compared without a sign.
  private def leading(text: UTF8String): Long = text.getPrefix ^ Long.MinValue

  private def behind(text: UTF8String, bytes: Int): UTF8String =
    UTF8String.fromAddress(text.getBaseObject, text.getBaseOffset + bytes, text.numBytes - bytes)

  private def byte(text: UTF8String, i: Int): Byte = Platform.getByte(text.getBaseObject, text.getBaseOffset + i)

  /** The number of leading bytes that are the same, at most `most`. */
  def sameBytes(text: UTF8String, bytes: Array[Byte], most: Int): Int = {
    var same = 0
    while (same < most && byte(text, same) == bytes(same)) same += 1
    same
  }
}
