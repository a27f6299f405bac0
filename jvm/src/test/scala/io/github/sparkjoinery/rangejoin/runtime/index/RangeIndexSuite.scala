package io.github.sparkjoinery.rangejoin.runtime.index

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.joinery.DriverBuildMemory
import org.apache.spark.sql.types.{DataType, DoubleType, LongType, StringType}

import io.github.sparkjoinery.execution.rows.WatchedMemory
import io.github.sparkjoinery.rangejoin.logical.RangeLayout

/** The index finds the same rows as a loop over all rows, for any intervals. */
class RangeIndexSuite extends AnyFunSuite {

  private val (id, start, end) =
    (BoundReference(0, LongType, true), BoundReference(1, LongType, true), BoundReference(2, LongType, true))
  private val toUnsafe = UnsafeProjection.create(Array[DataType](LongType, LongType, LongType))

  private def layout(hasEnds: Boolean, keys: Seq[Expression] = Nil, keepsAll: Boolean = false) =
    RangeLayout(keys, start, if (hasEnds) Some(end) else None, keepsAll, numFields = 3)

  /** Fails for a row that starts at 0. */
  private val failing =
    Cast(Divide(Literal(1.0), Cast(start, DoubleType), EvalMode.ANSI), LongType, None, EvalMode.ANSI)

  private type Interval = (Long, java.lang.Long, java.lang.Long)

  private def index(layout: RangeLayout, rows: Seq[Interval], limit: Long = 1L << 30): Option[RangeIndex] = {
    val builder = new RangeIndexBuilder(layout, new DriverBuildMemory(limit))
    if (rows.forall { case (id, start, end) => builder.add(toUnsafe(InternalRow(id, start, end))) })
      Option(builder.result())
    else None
  }

  private def found(reader: RangeIndexReader): Seq[Long] =
    Iterator.continually(reader.next()).takeWhile(_ >= 0).map(reader.row(_).getLong(0)).toVector

  private val shapes: Seq[(String, Random => (Long, Long))] = Seq(
    "short" -> (random => { val s = random.nextInt(1000); (s, s + random.nextInt(5)) }),
    "long" -> (random => { val s = random.nextInt(1000); (s, s + random.nextInt(1000)) }),
    "one over all" -> (random =>
      if (random.nextInt(500) == 0) (0, 1000) else { val s = random.nextInt(1000); (s, s + 1) }),
    "identical" -> (_ => (400, 600)),
    "reversed" -> (random => (random.nextInt(1000), random.nextInt(1000))),
    "ends of the type" -> (random =>
      (
        Seq(Long.MinValue, 0L, Long.MaxValue)(random.nextInt(3)),
        Seq(Long.MinValue, 0L, Long.MaxValue)(random.nextInt(3))))
  )

  for ((shape, draw) <- shapes; size <- Seq(0, 1, 15, 16, 17, 255, 256, 257, 5000)) {
    test(s"$size intervals, $shape") {
      val random = new Random(size)
      val rows = Seq.tabulate(size) { i =>
        val (start, end) = draw(random)
        (i.toLong, start, end)
      }
      val built = index(layout(hasEnds = true), rows.map { case (i, s, e) => (i, Long.box(s), Long.box(e)) }).get
      for ((strictStart, strictEnd) <- Seq((false, false), (true, false), (false, true), (true, true))) {
        val reader = built.reader(strictStart, strictEnd)
        for (_ <- 0 until 50) {
          val lower = Seq(Long.MinValue, Long.MaxValue, 0L, random.nextInt(1000).toLong)(random.nextInt(4))
          val upper = if (random.nextBoolean()) lower
          else Seq(Long.MinValue, Long.MaxValue, random.nextInt(1100).toLong)(random.nextInt(3))
          if (size > 0) {
            reader.between(0, lower, upper)
            val expected = rows.collect {
              case (id, start, end)
                  if (if (strictStart) start < upper else start <= upper) && (if (strictEnd) end > lower
                                                                              else end >= lower) => id
            }
            assert(found(reader).sorted == expected, s"$lower $upper")
          }
        }
      }
    }
  }

  for ((shape, value) <- Seq[(String, Random => Long)](
      "even" -> (_.nextInt(1000000).toLong),
      "few values" -> (_.nextInt(3).toLong),
      "few negative values" -> (-1L - _.nextInt(3)),
      "one value" -> (_ => 7L),
      "all longs" -> (_.nextLong()),
      "only the ends" -> (random => if (random.nextBoolean()) Long.MinValue else Long.MaxValue),
      "most in one place" -> (random =>
        if (random.nextInt(1000) == 0) random.nextLong() else random.nextInt(2000).toLong)
    ); size <- Seq(255, 256, 257, 4096, 10000)) test(s"a directory of $size values, $shape") {
    val random = new Random(size)
    var emptyRanges = 0
    val values = Array.fill(size + 20)(value(random))
    java.util.Arrays.sort(values, 10, size + 10) // places before and after are another key's
    val directory = RankDirectory.build(values, 10, size + 10)
    assert((directory == null) == size < 256)
    if (directory != null) {
      assert(directory.bytes <= RankDirectory.BytesPerValue * size + 8)
      val bounds = Seq(Long.MinValue, Long.MaxValue) ++
        Seq.fill(300)(values(10 + random.nextInt(size)) + random.nextInt(3) - 1) ++ Seq.fill(50)(random.nextLong())
      val sample = bounds.take(150) ++ bounds.takeRight(10)
      for (from <- sample; width <- Seq(0L, 1L, 40L, 100000L, 1L << 40, Long.MaxValue)) {
        val to = if (from + width < from) Long.MaxValue else from + width
        val firstFrom = 10 + values.slice(10, size + 10).count(_ < from)
        val isEmpty = firstFrom == size + 10 || values(firstFrom) > to
        val found = directory.firstWithin(values, from, to)
        assert(found == firstFrom || found == -1 && isEmpty, s"$from $to")
        if (isEmpty && found == -1) emptyRanges += 1
      }
      if (size == 10000 && shape == "all longs") assert(emptyRanges > 30, "narrow ranges without values are told")
      for (bound <- bounds)
        assert(directory.lastUpTo(values, bound) == 9 + values.slice(10, size + 10).count(_ <= bound), bound)
    }
  }

  test("points") {
    val random = new Random(1)
    val rows = Seq.tabulate(3000)(i => (i.toLong, random.nextInt(500).toLong))
    val reader =
      index(layout(hasEnds = false), rows.map { case (i, p) => (i, Long.box(p), null) }).get.reader(true, false)
    for (_ <- 0 until 300) {
      val (lower, upper) = (random.nextInt(510).toLong - 5, random.nextInt(510).toLong - 5)
      reader.between(0, lower, upper)
      assert(found(reader).sorted == rows.collect { case (id, p) if p >= lower && p < upper => id })
    }
  }

  test("rows without bounds are kept where they are given out, and are never candidates") {
    val rows: Seq[Interval] = Seq((0, 1L, 2L), (1, null, 2L), (2, 1L, null), (3, null, null))
    assert(index(layout(hasEnds = true), rows).get.numRows == 1)
    val kept = index(layout(hasEnds = true, keepsAll = true), rows).get
    assert(kept.numRows == 4)
    val reader = kept.reader(false, false)
    reader.between(0, Long.MinValue, Long.MaxValue)
    assert(found(reader) == Seq(0))
    assert((0 until 4).map(reader.row(_).getLong(0)).toSet == Set(0, 1, 2, 3))
  }

  test("each key has its own rows") {
    val rows: Seq[Interval] = Seq.tabulate(1000)(i => ((i % 7).toLong, Long.box(i), Long.box(i + 10)))
    val built = index(layout(hasEnds = true, keys = Seq(id)), rows).get
    val reader = built.reader(false, false)
    for (key <- 0 until 7) {
      reader.between(reader.numberOf(key.toLong), 500, 520)
      assert(found(reader) == Seq.fill(rows.count { case (k, s, e) => k == key && s <= 520 && e >= 500 })(key.toLong))
    }
    assert(reader.numberOf(8L) == -1)
  }

  test("a row whose bound fails is a candidate of every probe with its key") {
    val layout = RangeLayout(Nil, failing, None, keepsAll = false, numFields = 3)
    val reader = index(layout, Seq((0, 1L, null), (1, 0L, null), (2, null, null))).get.reader(false, false)
    reader.between(0, 100, 200)
    assert(found(reader) == Seq(1))
    reader.all(0)
    assert(found(reader).sorted == Seq(0, 1))
  }

  // There are so many rows that the test takes very long if each probe reads the rows of all keys.
  test("rows whose bounds fail are found by their keys") {
    val count = 200000
    val layout = RangeLayout(Seq(Pmod(id, Literal(count / 2L))), failing, None, keepsAll = false, numFields = 3)
    val rows: Seq[Interval] = (0 until count).map(i => (i.toLong, Long.box(if (i % 3 == 0) 1L else 0L), null))
    val reader = index(layout, rows).get.reader(false, false)
    for (key <- 0 until count / 2) {
      reader.between(reader.numberOf(key.toLong), 100, 200)
      assert(found(reader).sorted == Seq(key.toLong, key + count / 2L).filter(_ % 3 != 0))
    }
    reader.none()
    assert(reader.next() == -1)
  }

  test("what is too large is refused") {
    val rows = Seq.tabulate(10000)(i => (i.toLong, Long.box(i), Long.box(i)))
    val size = index(layout(hasEnds = true), rows).get.estimatedSize
    assert(index(layout(hasEnds = true), rows, size / 2).isEmpty)
    assert(size < 10000 * (8 + 32 + 3 * 8 + 2) * 1.5, "bytes per row: its own and its header, address, bounds, maxima")
  }

  for ((what, keys) <- Seq(
      "no keys" -> Nil,
      "seven keys" -> Seq(Pmod(id, Literal(7L))),
      "a key for each row" -> Seq(id),
      "texts as keys" -> Seq(Cast(id, StringType))
    ); hasEnds <- Seq(true, false); reserves <- Seq(true, false)) {
    test(s"what is held is what was acquired: $what, ends $hasEnds, reserved $reserves") {
      for (count <- Seq(0, 1, 65, 1000, 20000)) {
        val (memory, random) = (new WatchedMemory, new Random(count))
        val builder = new RangeIndexBuilder(layout(hasEnds, keys, keepsAll = true), memory, reserves)
        memory.watch(builder)
        for (i <- 0 until count) {
          val start = if (random.nextInt(9) == 0) null else Long.box(random.nextInt(1000).toLong)
          assert(builder.add(toUnsafe(InternalRow(i.toLong, start, Long.box(random.nextInt(2000).toLong)))))
        }
        memory.look()
        val index = builder.result()
        memory.watch(index)
        memory.look()
        assert(memory.excess <= (8L << 10), s"bytes beyond what was acquired, of ${memory.acquired}, $count rows")
      }
    }
  }

  test("the size does not depend on how intervals overlap") {
    val apart = Seq.tabulate(10000)(i => (i.toLong, Long.box(2 * i), Long.box(2 * i + 1)))
    val over = apart.map { case (id, start, _) => (id, start, Long.box(1000000)) }
    assert(index(layout(hasEnds = true), apart).get.estimatedSize == index(
      layout(hasEnds = true),
      over).get.estimatedSize)
  }
}
