package io.github.sparkjoinery.window.rules

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.trees.QuaternaryLike
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.{DataType, LongType}

import io.github.sparkjoinery.window.logical.{FrameReach, HotKey}

/**
 * The bucket of time in which a row of a hot key is counted. A bucket is a part, a distance to the next cut and a
 * distance from the last one. Each distance is reduced to its leading four bits. The bucket is NULL for a row of
 * another key, and for a row far from all cuts. The first far row of a key in a task has a bucket nevertheless: several
 * keys may have one hash, and each needs a row that is counted.
 *
 * @param key
 *   the value of the key, whose hash is `id`
 * @param reach
 *   the reach of the frames, which decides which distances are counted
 */
private[window] case class BucketOfRow(
    id: Expression,
    key: Expression,
    time: Expression,
    nullTime: Long,
    hotKeys: Expression,
    reach: FrameReach)
  extends Expression with QuaternaryLike[Expression] {
  override def first: Expression = id
  override def second: Expression = key
  override def third: Expression = time
  override def fourth: Expression = hotKeys
  override def dataType: DataType = LongType
  override def nullable: Boolean = true
  override def prettyName: String = "joinery_window_bucket"

  /** False, since it depends on the rows before. */
  override lazy val deterministic: Boolean = false

  @transient private lazy val lookup = newLookup(hotKeys.eval())
  private def newLookup(keys: Any) = new BucketLookup(keys, reach.rowsBefore > 0, reach.rowsAfter > 0)

  override def eval(input: InternalRow): Any = {
    val at = time.eval(input)
    val found = lookup.bucketOf(id.eval(input).asInstanceOf[Long], if (at == null) nullTime else at.asInstanceOf[Long])
    val bucket = if (found == BucketLookup.Far) lookup.firstOf(key.eval(input)) else found
    if (bucket == BucketLookup.None) null else bucket
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val (hash, whole, at, all) = (id.genCode(ctx), key.genCode(ctx), time.genCode(ctx), hotKeys.genCode(ctx))
    val lookup = classOf[BucketLookup].getName
    val buckets = ctx.addMutableState(lookup, "windowBuckets")
    val boxed = ctx.freshName("key")
    ev.copy(code = code"""
      if ($buckets == null) {
        ${all.code}
        $buckets =
          new $lookup(${all.isNull} ? null : ${all.value}, ${reach.rowsBefore > 0}, ${reach.rowsAfter > 0});
      }
      ${hash.code}
      ${at.code}
      long ${ev.value} = $buckets.bucketOf(${hash.value}, ${at.isNull} ? ${nullTime}L : ${at.value});
      if (${ev.value} == ${BucketLookup.Far}L) {
        ${whole.code}
        Object $boxed = null;
        if (!${whole.isNull}) $boxed = ${whole.value};
        ${ev.value} = $buckets.firstOf($boxed);
      }
      boolean ${ev.isNull} = ${ev.value} == ${BucketLookup.None}L;
      """)
  }

  override protected def withNewChildrenInternal(
      newFirst: Expression,
      newSecond: Expression,
      newThird: Expression,
      newFourth: Expression): BucketOfRow =
    copy(id = newFirst, key = newSecond, time = newThird, hotKeys = newFourth)
}

/** Finds the bucket of one row after the other. */
final class BucketLookup(hotKeys: Any, countsBefore: Boolean, countsAfter: Boolean) {
  private val keys = HotKey.ofValue(hotKeys).toArray
  private val ids = keys.map(_.id)
  // The times of each part from which on, and up to which, a cut needs its rows.
  private val froms = keys.map(key =>
    if (countsBefore) key.froms.scanRight(Long.MaxValue)(math.min) else Array.fill(key.cuts.length + 1)(Long.MaxValue))
  private val tos = keys.map(key =>
    if (countsAfter) key.tos.scanLeft(Long.MinValue)(math.max) else Array.fill(key.cuts.length + 1)(Long.MinValue))
  private val seen = Array.fill[Any](keys.length)(this) // the key of the last far row; no key at first
  private var hot = 0 // the place of the row's key

  /**
   * Finds the bucket of a row.
   *
   * @return
   *   the bucket, [[BucketLookup.None]] if the key is not hot, or [[BucketLookup.Far]]
   */
  def bucketOf(id: Long, time: Long): Long = {
    hot = java.util.Arrays.binarySearch(ids, id)
    if (hot < 0) BucketLookup.None
    else {
      val cuts = keys(hot).cuts
      val part = keys(hot).partOf(time)
      val isBefore = part < cuts.length && time >= froms(hot)(part)
      val isAfter = part > 0 && time <= tos(hot)(part)
      if (!isBefore && !isAfter) BucketLookup.Far
      else Bucket(
        part,
        if (isBefore) Bucket.ofDistance(cuts(part) - time) else Bucket.Uncounted,
        if (isAfter) Bucket.ofDistance(time - cuts(part - 1) + 1) else Bucket.Uncounted)
    }
  }

  /** A bucket that no cut needs, if the last far row had another key; otherwise none. */
  def firstOf(key: Any): Long =
    if (key == seen(hot)) BucketLookup.None
    else {
      seen(hot) = InternalRow.copyValue(key)
      Bucket(0, Bucket.Uncounted, Bucket.Uncounted)
    }
}

private[window] object BucketLookup {
  val None: Long = -1
  val Far: Long = -2
}

private object Bucket {
  private val Bits = 10

  /** Takes the place of a distance that no cut needs. */
  val Uncounted: Int = (1 << Bits) - 1

  def apply(part: Int, before: Int, after: Int): Long = (part.toLong << 2 * Bits) | (before.toLong << Bits) | after
  def part(bucket: Long): Int = (bucket >> 2 * Bits).toInt
  def before(bucket: Long): Int = (bucket >> Bits).toInt & ((1 << Bits) - 1)
  def after(bucket: Long): Int = bucket.toInt & ((1 << Bits) - 1)

  /**
   * Reduces a distance to its exponent and the three bits after the leading one.
   *
   * @param distance
   *   from 1 on, unsigned
   */
  def ofDistance(distance: Long): Int = {
    val exponent = 63 - java.lang.Long.numberOfLeadingZeros(distance)
    val leading = if (exponent >= 3) distance >>> exponent - 3 else distance << 3 - exponent
    exponent << 3 | (leading & 7).toInt
  }

  /** The greatest distance in a bucket. */
  def most(ofDistance: Int): BigInt = {
    val (exponent, leading) = (ofDistance >> 3, BigInt(8 + (ofDistance & 7)))
    if (exponent >= 3) (leading + 1 << exponent - 3) - 1 else leading >> 3 - exponent
  }
}

/**
 * Hot keys whose cuts have at least as many rows within `froms` and `tos` as ROWS frames hold over the cut. The
 * distance to these rows is exact to an eighth.
 *
 * @param counts
 *   an array of structs: a key's hash, the key, a bucket, and the number of its rows
 * @param numKeys
 *   the number of columns of a key
 */
private[window] case class WithRowsOverCuts(
    hotKeys: Expression,
    counts: Expression,
    numKeys: Int,
    reach: FrameReach)
  extends BinaryExpression with CodegenFallback {
  override def left: Expression = hotKeys
  override def right: Expression = counts
  override def dataType: DataType = HotKey.ManyType
  override def nullable: Boolean = false

  override def eval(input: InternalRow): Any = {
    val keys = HotKey.ofValue(hotKeys.eval(input))
    val rows = counts.eval(input).asInstanceOf[ArrayData]
    val counted = (0 until rows.numElements()).map(rows.getStruct(_, 4)).filterNot(_.isNullAt(2))
    val byId = counted.groupBy(_.getLong(0))
    // Several keys may have one hash. The key that needs the widest range decides.
    HotKey.toValue(keys.map { key =>
      val byRange = key.copy(froms = key.cuts.map(reach.from), tos = key.cuts.map(reach.to))
      byId.getOrElse(key.id, Nil).groupBy(_.getStruct(1, numKeys)).values.foldLeft(byRange)(widened)
    })
  }

  private def widened(key: HotKey, counted: Seq[InternalRow]): HotKey = {
    def count(distance: Long => Int): Map[Int, Seq[(Int, Long)]] =
      counted.filter(row => distance(row.getLong(2)) != Bucket.Uncounted).groupBy(row => Bucket.part(row.getLong(2)))
        .map { case (part, rows) =>
          part -> rows.map(row => distance(row.getLong(2)) -> row.getLong(3)).sortBy(_._1)
        }
    val (before, after) = (count(Bucket.before), count(Bucket.after))
    val last = key.cuts.length
    key.copy(
      froms = key.froms.indices.map { cut =>
        val nearest = (cut to 0 by -1).iterator.flatMap(part => before.getOrElse(part, Nil).map(part -> _))
        val from = reached(nearest, reach.rowsBefore).map { case (part, distance) =>
          (BigInt(key.cuts(part)) - Bucket.most(distance)).max(if (part == 0) Long.MinValue else key.cuts(part - 1))
        }
        if (reach.rowsBefore == 0) key.froms(cut) else key.froms(cut).min(from.fold(Long.MinValue)(_.toLong))
      }.toArray,
      tos = key.tos.indices.map { cut =>
        val nearest = (cut + 1 to last).iterator.flatMap(part => after.getOrElse(part, Nil).map(part -> _))
        val to = reached(nearest, reach.rowsAfter).map { case (part, distance) =>
          (BigInt(key.cuts(part - 1)) + Bucket.most(distance) - 1)
            .min(if (part == last) BigInt(Long.MaxValue) else BigInt(key.cuts(part)) - 1)
        }
        if (reach.rowsAfter == 0) key.tos(cut) else key.tos(cut).max(to.fold(Long.MaxValue)(_.toLong))
      }.toArray
    )
  }

  /** The first bucket up to which there are this many rows. */
  private def reached(nearest: Iterator[(Int, (Int, Long))], rows: Int): Option[(Int, Int)] = {
    var sum = 0L
    nearest.map { case (part, (distance, count)) => sum += count; (part, distance) }.find(_ => sum >= rows)
  }

  override protected def withNewChildrenInternal(newLeft: Expression, newRight: Expression): WithRowsOverCuts =
    copy(hotKeys = newLeft, counts = newRight)
}
