package io.github.sparkjoinery.rangejoin.runtime.index

import org.apache.spark.unsafe.types.UTF8String

import io.github.sparkjoinery.rangejoin.logical.SharedPrefix

/** Finds the longest prefix of all texts that it gets. */
private[index] final class PrefixFinder extends SharedPrefix {
  private var found: Array[Byte] = _

  override def longOf(text: UTF8String): Long = {
    if (found == null) found = text.getBytes
    else if (found.length > 0) shorten(SharedPrefix.sameBytes(text, found, math.min(text.numBytes, found.length)))
    super.longOf(text)
  }

  /** Adds the texts of another finder. */
  def add(other: PrefixFinder): Unit = if (found == null) found = other.found
  else if (other.found != null) {
    val text = UTF8String.fromBytes(other.found)
    shorten(SharedPrefix.sameBytes(text, found, math.min(other.found.length, found.length)))
  }

  private def shorten(length: Int): Unit = if (length < found.length) found = found.take(length)

  def prefix: Array[Byte] = if (found == null) Array.emptyByteArray else found
}
