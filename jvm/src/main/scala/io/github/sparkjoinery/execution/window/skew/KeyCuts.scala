package io.github.sparkjoinery.execution.window.skew

import scala.collection.mutable

/**
 * Where a hot key is cut. Part i holds the times from cut i - 1 on, before cut i.
 *
 * @param froms of each cut, the earliest time that a frame of a row from the cut on reaches back to; only RANGE frames count
 * @param tos   the latest that a frame of a row before it reaches
 */
private[window] case class KeyCuts(times: Array[Long], froms: Array[Long], tos: Array[Long]) {
  def partOf(time: Long): Int = {
    var low = 0
    var high = times.length
    while (low < high) {
      val middle = (low + high) >>> 1
      if (times(middle) <= time) low = middle + 1 else high = middle
    }
    low
  }
}

private[window] object KeyCuts {

  /**
   * A key is hot when half a part would not hold it; cut where its values differ. One whose mass is on a single value has no cuts.
   *
   * @return by hash
   */
  def ofHotKeys(sample: Sample, parts: Int): Map[Long, KeyCuts] = {
    val total = sample.times.iterator.map(_.weight).sum
    sample.times.groupBy(_.hash).filter(_._2.iterator.map(_.weight).sum >= total / (2 * parts)).map { case (hash, times) =>
      hash -> (if (sample.wraps) KeyCuts(Array.emptyLongArray, Array.emptyLongArray, Array.emptyLongArray) else cut(times, parts))
    }
  }

  private def cut(times: Seq[SampledTime], parts: Int): KeyCuts = {
    val sorted = times.sortBy(_.time)
    val total = sorted.iterator.map(_.weight).sum
    val cuts = mutable.ArrayBuffer.empty[SampledTime]
    var (sum, next) = (0.0, 1)
    sorted.foreach { sampled =>
      sum += sampled.weight
      if (next < parts && sum > total * next / parts) {
        while (next < parts && sum > total * next / parts) next += 1
        if (sampled.time > cuts.lastOption.getOrElse(sorted.head).time) cuts += sampled
      }
    }
    KeyCuts(cuts.map(_.time).toArray, cuts.map(_.from).toArray, cuts.map(_.to).toArray)
  }
}
