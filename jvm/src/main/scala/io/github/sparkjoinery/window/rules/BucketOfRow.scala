package io.github.sparkjoinery.window.rules

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.trees.QuaternaryLike
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
