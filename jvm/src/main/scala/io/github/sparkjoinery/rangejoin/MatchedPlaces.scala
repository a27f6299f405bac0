package io.github.sparkjoinery.rangejoin

import java.util.BitSet

/** Places of an index, of which it is asked whether their rows have a match. */
private[rangejoin] trait PlacesToMark {
  def isMarked(place: Int): Boolean
  def mark(place: Int): Unit
}

/** The places of a whole index that have a match among one partition's rows. They go from task to task. */
private[rangejoin] final class MatchedPlaces extends PlacesToMark {
  private val matched = new BitSet

  override def isMarked(place: Int): Boolean = matched.get(place)
  override def mark(place: Int): Unit = matched.set(place)

  def toBytes: Array[Byte] = matched.toByteArray
}

private[rangejoin] object MatchedPlaces {

  /** The places that have a match in any partition. */
  def ofAll(partitions: Iterator[Array[Byte]]): BitSet = {
    val matched = new BitSet
    partitions.foreach(bytes => matched.or(BitSet.valueOf(bytes)))
    matched
  }
}
