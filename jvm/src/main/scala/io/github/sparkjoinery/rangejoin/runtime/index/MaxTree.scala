package io.github.sparkjoinery.rangejoin.runtime.index

/**
 * A tree of maxima without pointers: the greatest value of each block of 16 values, of each 16 such blocks, and so on.
 * The tree takes an eighth of the size of the values, for any intervals. eBay's range index keeps the rows active at
 * each key instead. Their number grows with the square of the rows if long intervals overlap.
 *
 * @param running
 *   the greatest value up to the end of each block of 16, at which a search stops if all intervals before it end too
 *   early
 */
private[index] final class MaxTree private (
    values: Array[Long],
    levels: Array[Array[Long]],
    running: Array[Long]) extends Serializable {
  import MaxTree._

  def bytes: Long = levels.iterator.map(_.length * 8L).sum + running.length * 8L

  /** The last place in [first, from] whose value is at least `least`, or a place before `first` if there is none. */
  def lastAtLeast(least: Long, first: Int, from: Int): Int = {
    var place = from
    while (place >= first && values(place) < least) {
      place -= 1
      if ((place & Mask) == Mask) {
        if (place < first || running(place >>> Bits) < least) return first - 1
        place = skip(place, least, first)
      }
    }
    place
  }

  /** Goes back from the last place of a block over whole blocks whose values are all less. */
  private def skip(last: Int, least: Long, first: Int): Int = {
    var place = last
    var level = 0
    while (place >= first) {
      while (level + 1 < levels.length && isEndOf(place, level + 1)) level += 1
      if (levels(level)(place >>> shift(level)) < least) {
        place -= 1 << shift(level)
        level = 0
      } else if (level > 0) return descend(place, least, level)
      else return place
    }
    place
  }

  /** The last place of the last block of the lowest level that has such a value, below a block that has one. */
  private def descend(last: Int, least: Long, from: Int): Int = {
    var place = last
    var level = from - 1
    while (level >= 0) {
      while (levels(level)(place >>> shift(level)) < least) place -= 1 << shift(level)
      level -= 1
    }
    place
  }

  private def isEndOf(place: Int, level: Int): Boolean = ((place + 1) & ((1 << shift(level)) - 1)) == 0
}

private[index] object MaxTree {
  private val Bits = 4
  private val Mask = (1 << Bits) - 1
  private val MostLevels = 7 // 16 to the seventh: the most places that an index has

  /** log2 of the places in a block of a level. */
  private def shift(level: Int): Int = Bits * (level + 1)

  def build(values: Array[Long]): MaxTree = {
    val levels = scala.collection.mutable.ArrayBuffer.empty[Array[Long]]
    var below = values
    while (below.length > Mask && levels.length < MostLevels) {
      below = blocks(below)
      levels += below
    }
    if (levels.isEmpty) levels += blocks(values)
    new MaxTree(values, levels.toArray, running(levels.head))
  }

  private def running(blocks: Array[Long]): Array[Long] = {
    val greatest = blocks.clone()
    var i = 1
    while (i < greatest.length) { greatest(i) = math.max(greatest(i), greatest(i - 1)); i += 1 }
    greatest
  }

  private def blocks(values: Array[Long]): Array[Long] = {
    val greatest = Array.fill((values.length + Mask) >>> Bits)(Long.MinValue)
    var i = 0
    while (i < values.length) {
      if (values(i) > greatest(i >>> Bits)) greatest(i >>> Bits) = values(i)
      i += 1
    }
    greatest
  }
}
