package io.github.sparkjoinery.window.parts

import scala.collection.mutable

import io.github.sparkjoinery.execution.skew.Cuts

/**
 * Where a hot key is cut. Part i holds the times from cut i - 1 on, before cut i.
 *
 * @param froms
 *   of each cut, the earliest time that a frame of a row from the cut on reaches back to; only RANGE frames count
 * @param tos
 *   the latest that a frame of a row before it reaches
 */
private[window] case class KeyCuts(times: Array[Long], froms: Array[Long], tos: Array[Long]) {
  def partOf(time: Long): Int = Cuts.partOf(time, times)
}

private[window] object KeyCuts {

  /**
   * A key is hot when it has as many rows as half a part of them all; parts of it are no smaller than that. It is cut
   * where its values differ: one whose mass is on a single value has no cuts.
   *
   * @param parts
   *   most of a key
   * @param mostCopied
   *   share of a key's rows; one of which RANGE frames want more over its cuts is left out. None: no limit
   * @return
   *   by hash
   */
  def ofHotKeys(sample: Sample, parts: Int, mostCopied: Option[Double]): Map[Long, KeyCuts] = {
    val halfPart = weightOf(sample.times) / (2 * parts)
    sample.times.groupBy(_.hash).map { case (hash, times) => (hash, times, weightOf(times)) }.filter(
      _._3 >= halfPart).map { case (hash, times, weight) =>
      val most = math.min(parts, math.max(2, math.ceil(weight / halfPart).toInt))
      val cuts = if (sample.wraps) KeyCuts(Array.emptyLongArray, Array.emptyLongArray, Array.emptyLongArray)
      else cut(times, most)
      (hash, cuts, copied(times, cuts) / weight)
    }.collect { case (hash, cuts, share) if mostCopied.forall(share <= _) => hash -> cuts }.toMap
  }

  /** Rows that RANGE frames reach over the cuts for. */
  private def copied(times: Seq[SampledTime], cuts: KeyCuts): Double = cuts.times.indices.iterator.map { i =>
    weightOf(times.filter { case SampledTime(_, time, _, _, _) =>
      if (time < cuts.times(i)) time >= cuts.froms(i) else time <= cuts.tos(i)
    })
  }.sum

  private def weightOf(times: Seq[SampledTime]): Double = times.iterator.map(_.weight).sum

  private def cut(times: Seq[SampledTime], parts: Int): KeyCuts = {
    val sorted = times.sortBy(_.time)
    val total = weightOf(sorted)
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
