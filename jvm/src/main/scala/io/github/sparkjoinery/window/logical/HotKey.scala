package io.github.sparkjoinery.window.logical

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.{ArrayData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.hash.Murmur3_x86_32

import io.github.sparkjoinery.execution.skew.Cuts

/**
 * A key that is cut into parts. Part i holds the times from cut i - 1 on, before cut i. Times are longs that sort as
 * the window does.
 *
 * @param id
 *   a hash of the key
 * @param labels
 *   the labels of the parts; rows are partitioned by key and label
 * @param froms
 *   one time for each cut. Frames of the rows from the cut on hold no earlier time.
 * @param tos
 *   one time for each cut. Frames of the rows before the cut hold no later time.
 */
private[window] case class HotKey(
    id: Long,
    labels: Array[Int],
    cuts: Array[Long],
    froms: Array[Long],
    tos: Array[Long]) {

  def partOf(time: Long): Int = Cuts.partOf(time, cuts)

  /** The first part whose frames may hold a row of this part and time. */
  def firstPart(own: Int, time: Long): Int = {
    var first = own
    while (first > 0 && time <= tos(first - 1)) first -= 1
    first
  }

  /** The last part whose frames may hold a row of this part and time. */
  def lastPart(own: Int, time: Long): Int = {
    var last = own
    while (last < cuts.length && time >= froms(last)) last += 1
    last
  }
}

private[window] object HotKey {

  /** The type of hot keys as a value in a query, by ascending id. */
  val ManyType: DataType = {
    def array(of: DataType) = ArrayType(of, containsNull = false)
    array(
      new StructType()
        .add("id", LongType, nullable = false)
        .add("labels", array(IntegerType), nullable = false)
        .add("cuts", array(LongType), nullable = false)
        .add("froms", array(LongType), nullable = false)
        .add("tos", array(LongType), nullable = false))
  }

  def toValue(keys: Seq[HotKey]): ArrayData = new GenericArrayData(keys.sortBy(_.id).map { key =>
    def array(longs: Array[Long]) = new GenericArrayData(longs)
    InternalRow(key.id, new GenericArrayData(key.labels), array(key.cuts), array(key.froms), array(key.tos))
  })

  def ofValue(value: Any): Seq[HotKey] = {
    val array = value.asInstanceOf[ArrayData]
    if (array == null) Nil
    else (0 until array.numElements()).map { i =>
      val row = array.getStruct(i, 5)
      def longs(field: Int) = row.getArray(field).toLongArray()
      HotKey(row.getLong(0), row.getArray(1).toIntArray(), longs(2), longs(3), longs(4))
    }
  }

  /**
   * Finds the hot keys of a sample. A key is hot if it has at least half as many rows as one of `parts` even parts of
   * all rows. It is cut into parts of about that size, two at least. A key is cut where its values differ, so a key
   * with most rows on one value has no cuts.
   *
   * @param parts
   *   the most parts of a key
   * @param partitions
   *   the partitions of the shuffle
   * @param mostCopied
   *   the largest share of a key's rows that may be copied for RANGE frames. A key beyond it is left out. None: no
   *   limit
   * @param leastPoints
   *   the least number of sampled points on each side of a cut, among which rows are counted if a frame counts rows.
   *   `froms` and `tos` are the ends of these ranges until then.
   */
  def find(
      sample: Seq[SampledTime],
      parts: Int,
      reach: FrameReach,
      partitions: Int,
      mostCopied: Option[Double],
      leastPoints: Int): Seq[HotKey] = {
    val halfPart = weightOf(sample) / (2 * parts)
    val found = for {
      (id, times) <- sample.groupBy(_.id).toSeq.sortBy(_._1)
      weight = weightOf(times)
      if weight >= halfPart
      sorted = times.sortBy(_.time)
      cuts = cut(sorted, math.min(parts, math.max(2, math.ceil(weight / halfPart).toInt)))
      key = HotKey(id, null, cuts, cuts.map(reach.from), cuts.map(reach.to))
      if cuts.nonEmpty && mostCopied.forall(copied(times, key) <= _ * weight)
    } yield counted(sorted, key, reach, leastPoints) -> times.head.spread
    val stride = strideOf(partitions, found.map(_._1.cuts.length + 1).sum)
    found.scanLeft((null: HotKey, 0)) { case ((_, first), (key, spread)) =>
      val end = first + key.cuts.length + 1
      val wanted = (first until end).map(i => (i.toLong * stride % partitions).toInt)
      (key.copy(labels = labels(spread, wanted, partitions)), end)
    }.tail.map(_._1)
  }

  /** The key with the ranges around its cuts in which rows are counted. */
  private def counted(sorted: Seq[SampledTime], key: HotKey, reach: FrameReach, leastPoints: Int): HotKey = {
    val points = sorted.toIndexedSeq
    def end(first: Int, step: Int, rows: Int): Option[Long] = {
      var (at, count, sum) = (first - step, 0, 0.0)
      while ((count < leastPoints || sum < rows.toDouble * SampledPerCounted) && points.isDefinedAt(at + step)) {
        at += step
        count += 1
        sum += points(at).weight
      }
      if (count >= leastPoints && sum >= rows.toDouble * SampledPerCounted) Some(points(at).time) else None
    }
    def indexFrom(cut: Long) = points.indexWhere(_.time >= cut)
    def before(cut: Long) = end(indexFrom(cut) - 1, -1, reach.rowsBefore).getOrElse(Long.MinValue)
    def after(cut: Long) = end(indexFrom(cut), 1, reach.rowsAfter).getOrElse(Long.MaxValue)
    key.copy(
      froms = if (reach.rowsBefore == 0) key.froms else key.cuts.map(before),
      tos = if (reach.rowsAfter == 0) key.tos else key.cuts.map(after))
  }

  private val SampledPerCounted = 2 // estimated rows for each row that a frame needs

  private def weightOf(times: Seq[SampledTime]): Double = times.iterator.map(_.weight).sum

  private def cut(sorted: Seq[SampledTime], parts: Int): Array[Long] = {
    val total = weightOf(sorted)
    val cuts = new scala.collection.mutable.ArrayBuffer[Long]
    var (sum, next) = (0.0, 1)
    sorted.foreach { sampled =>
      sum += sampled.weight
      if (next < parts && sum > total * next / parts) {
        while (next < parts && sum > total * next / parts) next += 1
        if (sampled.time > cuts.lastOption.getOrElse(sorted.head.time)) cuts += sampled.time
      }
    }
    cuts.toArray
  }

  private def copied(times: Seq[SampledTime], key: HotKey): Double = key.cuts.indices.iterator.map { i =>
    weightOf(times.filter(row => if (row.time < key.cuts(i)) row.time >= key.froms(i) else row.time <= key.tos(i)))
  }.sum

  /**
   * The distance between the partitions of two parts. It has no factor in common with the number of partitions, so the
   * parts stay apart where [[io.github.sparkjoinery.execution.ShuffleWidth]] takes a divisor of that number.
   */
  private def strideOf(partitions: Int, parts: Int): Int =
    (partitions / parts.max(1) to 1 by -1).find(BigInt(_).gcd(partitions) == BigInt(1)).getOrElse(1)

  /** Labels from 1 on. Spark's hash partitioning sends each of them, together with the key, to its wanted partition. */
  private def labels(spread: Int, wanted: Seq[Int], partitions: Int): Array[Int] = {
    var label = 0
    wanted.map { partition =>
      do label += 1 while (java.lang.Math.floorMod(Murmur3_x86_32.hashInt(label, spread), partitions) != partition)
      label
    }.toArray
  }
}
