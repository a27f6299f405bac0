package io.github.sparkjoinery.rangejoin

import java.io.{NotSerializableException, Serializable}
import java.nio.ByteBuffer
import java.util.BitSet

import org.apache.spark.SparkEnv

/** Of which places of an index it is known that their rows have a match, and where the condition fails. */
private[rangejoin] trait MarkedPlaces {
  def isMarked(place: Int): Boolean
  def mark(place: Int): Unit

  /** The condition fails for a streamed row and that of a place. */
  def defer(place: Int, error: Throwable): Unit
}

/** What one partition's rows find out about the places of a whole index. It goes from task to task. */
private[rangejoin] final class MatchedPlaces extends MarkedPlaces {
  private val matched = new BitSet
  private val errors = new ErrorsOfRows

  override def isMarked(place: Int): Boolean = matched.get(place)
  override def mark(place: Int): Unit = matched.set(place)
  override def defer(place: Int, error: Throwable): Unit = errors.defer(place, error)

  def toBytes: Array[Byte] = {
    val (failed, error) = errors.found.getOrElse((new BitSet, null))
    failed.andNot(matched)
    try {
      val places = PlacesOfPartition(matched, failed, if (failed.isEmpty) null else error)
      val bytes = SparkEnv.get.closureSerializer.newInstance().serialize(places)
      val array = new Array[Byte](bytes.remaining())
      bytes.get(array)
      array
    } catch { case _: NotSerializableException => throw error }
  }
}

private case class PlacesOfPartition(matched: BitSet, failed: BitSet, error: Throwable) extends Serializable

private[rangejoin] object MatchedPlaces {

  /** The places that have a match among the rows of any partition; an error if one has none, but a pair that fails. */
  def ofAll(partitions: Iterator[Array[Byte]]): BitSet = {
    val serializer = SparkEnv.get.closureSerializer.newInstance()
    val all = new BitSet
    var failing = List.empty[PlacesOfPartition]
    for (bytes <- partitions) {
      val places = serializer.deserialize[PlacesOfPartition](ByteBuffer.wrap(bytes))
      all.or(places.matched)
      if (places.error != null) failing ::= places
    }
    for (PlacesOfPartition(_, failed, error) <- failing) {
      failed.andNot(all)
      if (!failed.isEmpty) throw error
    }
    all
  }
}
