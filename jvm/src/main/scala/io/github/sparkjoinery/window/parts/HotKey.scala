package io.github.sparkjoinery.window.parts

import java.util

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
 *   of the parts: rows are partitioned by key and label
 * @param froms
 *   one for each cut. Frames of the rows from the cut on hold no earlier time.
 * @param tos
 *   one for each cut. Frames of the rows before the cut hold no later time.
 */
private[window] case class HotKey(
    id: Long,
    labels: Array[Int],
    cuts: Array[Long],
    froms: Array[Long],
    tos: Array[Long]) {

  def partOf(time: Long): Int = Cuts.partOf(time, cuts)
}

private[window] object HotKey {

  /** Hot keys as a value of a query, by ascending id. */
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
   * The hot keys of a sample. A key is hot when it has as many rows as half a part of them all; parts of it are no
   * smaller than that. A key is cut where its values differ: one whose mass is on a single value has no cuts.
   *
   * @param parts
   *   most of a key
   * @param partitions
   *   of the shuffle
   * @param mostCopied
   *   share of a key's rows that RANGE frames may need copies of, or the key is left out. None: no limit
   */
  def find(
      sample: Seq[SampledTime],
      parts: Int,
      reach: FrameReach,
      partitions: Int,
      mostCopied: Option[Double]): Seq[HotKey] = {
    val halfPart = weightOf(sample) / (2 * parts)
    val found = for {
      (id, times) <- sample.groupBy(_.id).toSeq.sortBy(_._1)
      weight = weightOf(times)
      if weight >= halfPart
      cuts = cut(times.sortBy(_.time), math.min(parts, math.max(2, math.ceil(weight / halfPart).toInt)))
      key = HotKey(id, null, cuts, cuts.map(reach.from), cuts.map(reach.to))
      if cuts.nonEmpty && mostCopied.forall(copied(times, key) <= _ * weight)
    } yield key -> times.head.spread
    val total = found.map(_._1.cuts.length + 1).sum
    found.scanLeft((null: HotKey, 0)) { case ((_, first), (key, spread)) =>
      val end = first + key.cuts.length + 1
      val wanted = (first until end).map(i => (i.toLong * partitions / total).toInt)
      (key.copy(labels = labels(spread, wanted, partitions)), end)
    }.tail.map(_._1)
  }

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

  /** Numbers from 1 on that Spark's hash partitioning sends to the wanted partitions, next to the key. */
  private def labels(spread: Int, wanted: Seq[Int], partitions: Int): Array[Int] = {
    var label = 0
    wanted.map { partition =>
      do label += 1 while (java.lang.Math.floorMod(Murmur3_x86_32.hashInt(label, spread), partitions) != partition)
      label
    }.toArray
  }
}

/**
 * A row of a sample, or of a stored distribution.
 *
 * @param id
 *   a hash of its key
 * @param spread
 *   the hash of its key that Spark partitions by
 * @param weight
 *   the number of rows that it stands for
 */
private[window] case class SampledTime(id: Long, spread: Int, time: Long, weight: Double)

/** Looks up the parts of one row after the other. */
final class PartLookup(hotKeys: Any) {
  private val keys = HotKey.ofValue(hotKeys).toArray
  private val ids = keys.map(_.id)
  private val alone = keys.map(_.labels.map(label => PartLookup.array(Array(label))))

  /** The label of a row's own part, and behind it those of other parts whose frames may hold the row. */
  def partsOf(id: Long, time: Long): ArrayData = {
    val i = util.Arrays.binarySearch(ids, id)
    if (i < 0) PartLookup.Whole
    else {
      val key = keys(i)
      val own = key.partOf(time)
      var (first, last) = (own, own)
      while (last < key.cuts.length && time >= key.froms(last)) last += 1
      while (first > 0 && time <= key.tos(first - 1)) first -= 1
      if (first == last) alone(i)(own)
      else {
        val labels = new Array[Int](last - first + 1)
        labels(0) = key.labels(own)
        var next = 1
        var part = first
        while (part <= last) {
          if (part != own) { labels(next) = key.labels(part); next += 1 }
          part += 1
        }
        PartLookup.array(labels)
      }
    }
  }
}

private object PartLookup {
  private def array(labels: Array[Int]): ArrayData =
    org.apache.spark.sql.catalyst.expressions.UnsafeArrayData.fromPrimitiveArray(labels)

  /** Keys that are not cut have one part. */
  private val Whole = array(Array(0))
}
