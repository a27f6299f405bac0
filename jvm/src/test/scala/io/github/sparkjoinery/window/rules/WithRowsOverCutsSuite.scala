package io.github.sparkjoinery.window.rules

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.types._

import io.github.sparkjoinery.window.logical.{FrameReach, HotKey}

/** The times around cuts between which enough rows lie, found from counts by bucket. */
class WithRowsOverCutsSuite extends AnyFunSuite {
  private val Id = 7L

  /** @param from the time from which on rows are counted */
  private def widened(
      times: Seq[Long],
      cuts: Array[Long],
      reach: FrameReach,
      keyOf: Int => Int = _ => 0,
      from: Long = Long.MinValue): HotKey = {
    val key = HotKey(
      Id,
      Array.range(1, cuts.length + 2),
      cuts,
      Array.fill(cuts.length)(from),
      Array.fill(cuts.length)(Long.MaxValue))
    val lookup = new BucketLookup(HotKey.toValue(Seq(key)), reach.rowsBefore > 0, reach.rowsAfter > 0)
    val counts =
      times.zipWithIndex.map { case (time, i) =>
        val bucket = lookup.bucketOf(Id, time)
        keyOf(i) -> (if (bucket == BucketLookup.Far) lookup.firstOf(keyOf(i)) else bucket)
      }.filter(_._2 != BucketLookup.None).groupBy(identity).map { case ((key, bucket), rows) =>
        InternalRow(Id, InternalRow(key), bucket, rows.length.toLong)
      }.toSeq
    val struct = new StructType().add("id", LongType).add("key", new StructType().add("k", IntegerType))
      .add("bucket", LongType).add("count", LongType)
    HotKey.ofValue(WithRowsOverCuts(
      Literal(HotKey.toValue(Seq(key)), HotKey.ManyType),
      Literal(new GenericArrayData(counts), ArrayType(struct)),
      numKeys = 1,
      reach).eval(InternalRow.empty)).head
  }

  private def check(times: Seq[Long], cuts: Array[Long], rows: Int): Unit = {
    val found = widened(times, cuts, FrameReach(rows, rows, Nil))
    for ((cut, i) <- cuts.zipWithIndex) {
      val (before, after) = times.partition(_ < cut)
      val (sentBefore, sentAfter) = (before.count(_ >= found.froms(i)), after.count(_ <= found.tos(i)))
      assert(sentBefore >= math.min(rows, before.length) && sentAfter >= math.min(rows, after.length), s"cut at $cut")
    }
    assert(found.froms.toSeq == found.froms.sorted.toSeq && found.tos.toSeq == found.tos.sorted.toSeq)
  }

  test("at least as many rows as frames hold, wherever the rows lie") {
    val random = new Random(1)
    for (round <- 1 to 200) {
      val width = Seq(3, 100, 100000, Int.MaxValue)(round % 4)
      val ends = if (round % 5 == 0) Seq(Long.MinValue, Long.MaxValue, Long.MaxValue) else Nil
      val times = ends ++ Seq.fill(1 + random.nextInt(300))(random.nextInt(width).toLong - width / 2)
      val cuts = Seq.fill(1 + random.nextInt(6))(times(random.nextInt(times.length))).filter(_ > Long.MinValue)
      if (cuts.nonEmpty) check(times, cuts.distinct.sorted.toArray, 1 + random.nextInt(60))
    }
  }

  test("few rows more than that, if the rows lie evenly") {
    val found = widened(0L until 100000L, Array(50000L), FrameReach(1000, 0, Nil))
    assert(found.froms.head <= 49000 && found.froms.head >= 50000 - 1000 * 9 / 8 - 1 && found.tos.head == 49999)
  }

  test("the same rows, if those far from the cut are not counted") {
    val reach = FrameReach(1000, 0, Nil)
    val all = widened(0L until 100000L, Array(50000L), reach)
    assert(widened(0L until 100000L, Array(50000L), reach, from = 48000).froms.toSeq == all.froms.toSeq)
    assert(widened(0L until 100000L, Array(50000L), reach, from = 49500).froms.toSeq == Seq(Long.MinValue))
  }

  test("a key whose rows are all far from the cut, next to one that shares its hash") {
    val times = (0L until 10L) ++ (5000L until 10000L)
    val keyOf = (i: Int) => if (i < 10) 1 else 0
    assert(widened(times, Array(9000L), FrameReach(10, 0, Nil), keyOf, from = 8000).froms.toSeq == Seq(Long.MinValue))
  }

  test("each of two keys that share a hash has enough rows") {
    // Every hundredth row has the second key.
    val found = widened(0L until 10000L, Array(5000L), FrameReach(10, 0, Nil), i => if (i % 100 == 0) 1 else 0)
    assert(found.froms.head <= 4000)
  }
}
