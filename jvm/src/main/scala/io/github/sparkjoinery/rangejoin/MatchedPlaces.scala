package io.github.sparkjoinery.rangejoin

import java.nio.ByteBuffer
import java.util.BitSet

import scala.util.Try

import org.apache.spark.serializer.SerializerInstance
import org.apache.spark.{SparkEnv, SparkException}

/** Places of an index, of which it is asked whether their rows have a match. */
private[rangejoin] trait PlacesToMark {
  def isMarked(place: Int): Boolean
  def mark(place: Int): Unit

  /** The condition fails for a streamed row and that of a place. */
  def defer(place: Int, error: Throwable): Unit
}

/** What one partition's rows find out about the places of a whole index. It goes from task to task. */
private[rangejoin] final class MatchedPlaces extends PlacesToMark {
  private val matched = new BitSet
  private val errors = new ErrorsOfRows

  override def isMarked(place: Int): Boolean = matched.get(place)
  override def mark(place: Int): Unit = matched.set(place)
  override def defer(place: Int, error: Throwable): Unit = errors.defer(place, error)

  def toBytes: Array[Byte] = {
    val serializer = SparkEnv.get.closureSerializer.newInstance()
    val (failed, error) = errors.found.getOrElse((new BitSet, null))
    failed.andNot(matched)
    bytes(serializer, PlacesOfPartition(matched, failed, if (failed.isEmpty) null else sendable(serializer, error)))
  }

  /** An error may have parts that cannot be sent. */
  private def sendable(serializer: SerializerInstance, error: Throwable): Array[Byte] =
    Try(bytes(serializer, error)).getOrElse(bytes(serializer, new SparkException(error.toString)))

  private def bytes[T <: AnyRef: scala.reflect.ClassTag](serializer: SerializerInstance, what: T): Array[Byte] = {
    val buffer = serializer.serialize(what)
    val bytes = new Array[Byte](buffer.remaining())
    buffer.get(bytes)
    bytes
  }
}

/**
 * @param failed
 *   places without a match in the partition, for which the condition fails
 * @param error
 *   in the place of all their errors, serialized: it is read only where it counts; or null
 */
private case class PlacesOfPartition(matched: BitSet, failed: BitSet, error: Array[Byte])

private[rangejoin] object MatchedPlaces {

  /** The places that have a match in any partition; an error if one has none, but a pair that fails. */
  def ofAll(partitions: Iterator[Array[Byte]]): BitSet = {
    val serializer = SparkEnv.get.closureSerializer.newInstance()
    val (matched, failed) = (new BitSet, new BitSet)
    var error: Array[Byte] = null
    for (bytes <- partitions) {
      val places = serializer.deserialize[PlacesOfPartition](ByteBuffer.wrap(bytes))
      matched.or(places.matched)
      failed.or(places.failed)
      if (error == null) error = places.error
    }
    failed.andNot(matched)
    if (!failed.isEmpty) throw serializer.deserialize[Throwable](ByteBuffer.wrap(error))
    matched
  }
}
