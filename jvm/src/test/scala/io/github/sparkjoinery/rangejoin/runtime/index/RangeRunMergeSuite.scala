package io.github.sparkjoinery.rangejoin.runtime.index

import scala.util.Random

import org.apache.spark.SparkEnv
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.joinery.{BuildMemory, DriverBuildMemory}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.github.sparkjoinery.JoinerySession
import io.github.sparkjoinery.rangejoin.logical.RangeLayout

/** An index that is merged from runs finds what an index of all their rows finds. */
class RangeRunMergeSuite extends JoinerySession {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark // whose settings say how runs are compressed
  }

  private val types = Array[DataType](LongType, LongType, LongType, StringType)
  private val toUnsafe = UnsafeProjection.create(types)
  private def column(place: Int): Expression = BoundReference(place, types(place), nullable = true)

  /** Raises an error for 13. */
  private val failing =
    Add(column(1), Divide(Literal(0L), Subtract(column(1), Literal(13L)), EvalMode.ANSI).cast(LongType))

  private implicit class Casting(expression: Expression) {
    def cast(to: DataType): Expression = Cast(expression, to)
  }

  private def layout(hasEnds: Boolean, start: Expression = column(1), keepsAll: Boolean = false): RangeLayout =
    RangeLayout(Nil, start, if (hasEnds) Some(column(2)) else None, keepsAll, types.length)

  private def rows(count: Int, random: Random): Seq[UnsafeRow] = Seq.tabulate(count) { id =>
    val start = if (random.nextInt(20) == 0) null else Long.box(random.nextInt(1000).toLong)
    val end = if (random.nextInt(20) == 0) null else Long.box(random.nextInt(2000).toLong)
    val text = "x" * (if (random.nextInt(500) == 0) 300000 else random.nextInt(30)) // more than a page
    toUnsafe(InternalRow(id.toLong, start, end, UTF8String.fromString(text))).copy()
  }

  private def index(layout: RangeLayout, rows: Seq[UnsafeRow]): RangeIndex = {
    val builder = new RangeIndexBuilder(layout, new DriverBuildMemory(Long.MaxValue))
    rows.foreach(row => assert(builder.add(row)))
    builder.result()
  }

  /** Makes runs of the rows, and serializes them as on their way to the driver. */
  private def runs(layout: RangeLayout, rows: Seq[UnsafeRow], number: Int): RangeRunMerge = {
    val serializer = SparkEnv.get.closureSerializer.newInstance()
    val parts = if (number == 0) Nil else Seq.tabulate(number)(i => rows.filter(_.getLong(0) % number == i))
    val shipped = parts.map(part => RangeRun(index(layout, part), part.length))
      .map(run => serializer.deserialize[RangeRun](serializer.serialize(run)))
    assert(shipped.map(_.rowsRead).sum == parts.map(_.length).sum)
    new RangeRunMerge(shipped, types.length)
  }

  private def merged(runs: RangeRunMerge, memory: BuildMemory = new DriverBuildMemory(Long.MaxValue)): RangeIndex =
    runs.index(memory).get

  private def found(reader: RangeIndexReader)(begin: RangeIndexReader => Unit): Seq[String] = {
    begin(reader)
    Iterator.continually(reader.next()).takeWhile(_ >= 0).map(shown(reader, _)).toVector.sorted
  }

  private def shown(reader: RangeIndexReader, place: Int): String = {
    val row = reader.row(place)
    s"${row.getLong(0)} ${row.getUTF8String(3).numBytes}"
  }

  for (hasEnds <- Seq(true, false); keepsAll <- Seq(true, false); start <- Seq(column(1), failing))
    test(s"ends $hasEnds, keeps all $keepsAll, by $start") {
      for ((count, number) <- Seq((0, 0), (0, 1), (1, 1), (1, 3), (40, 50), (700, 2), (3000, 7))) {
        val random = new Random(count)
        val (all, of) = (rows(count, random), layout(hasEnds, start, keepsAll))
        val (expected, actual) = (index(of, all), merged(runs(of, all, number)))
        assert(actual.numRows == expected.numRows)
        val (e, a) = (expected.reader(true, false), actual.reader(true, false))
        assert(e.numberOf(0L) == a.numberOf(0L))
        if (e.numberOf(0L) == 0) {
          assert(found(a)(_.all(0)) == found(e)(_.all(0)))
          for (_ <- 0 until 100) {
            val (lower, upper) = (random.nextInt(1100).toLong, random.nextInt(1100).toLong)
            assert(found(a)(_.between(0, lower, upper)) == found(e)(_.between(0, lower, upper)), s"$lower $upper")
          }
        }
        def everything(reader: RangeIndexReader) = (0 until actual.numRows).map(shown(reader, _)).sorted
        assert(everything(a) == everything(e))
      }
    }

  test("runs that follow one another, and runs that are equal") {
    val of = layout(hasEnds = true)
    def at(start: Int => Long): Seq[UnsafeRow] = Seq.tabulate(1000)(id =>
      toUnsafe(InternalRow(id.toLong, start(id), start(id) + 5, UTF8String.fromString("a"))).copy())
    for (start <- Seq[Int => Long](id => id % 4 * 1000L + id, id => -(id % 4) * 1000L + id, _ => 7L)) {
      val actual = merged(runs(of, at(start), 4))
      assert(actual.starts.toSeq == at(start).map(_.getLong(1)).sorted)
      assert(actual.ends.toSeq == actual.starts.toSeq.map(_ + 5))
    }
  }

  test(
    "rows of intervals that overlap come to lie in their order if there is memory for it, others stay where they are") {
    val of = layout(hasEnds = true)
    def index(reach: Long, limit: Long = Long.MaxValue): RangeIndex = {
      val all = Seq.tabulate(10000)(id =>
        toUnsafe(InternalRow(id.toLong, id * 7L % 10000, id * 7L % 10000 + reach, UTF8String.fromString("a"))).copy())
      merged(runs(of, all, 4), new DriverBuildMemory(limit))
    }
    def areInOrder(index: RangeIndex): Boolean = index.addresses.toSeq == index.addresses.toSeq.sorted
    assert(areInOrder(index(reach = 5)) && areInOrder(index(reach = Long.MaxValue / 2)))
    assert(!areInOrder(index(reach = 1)))
    val enough = 10000 * 56 + index(reach = 5).estimatedSize // without room for rows that are moved
    assert(!areInOrder(index(reach = 5, limit = enough)))
  }

  test("what is too large is refused, and what is merged has been acquired") {
    val (of, all) = (layout(hasEnds = true), rows(20000, new Random(5)).filter(_.getSizeInBytes < 1000))
    val memory = new DriverBuildMemory(Long.MaxValue)
    val size = merged(runs(of, all, 3), memory).estimatedSize
    assert(size <= memory.acquired && memory.acquired < 2 * size)
    assert(runs(of, all, 3).index(new DriverBuildMemory(size / 2)).isEmpty)
  }

  test("who knows nothing of runs gets their rows") {
    val all = rows(500, new Random(6))
    for (keepsAll <- Seq(true, false)) {
      val of = layout(hasEnds = true, keepsAll = keepsAll)
      val expected = all.filter(row => keepsAll || !row.isNullAt(1) && !row.isNullAt(2)).map(_.getLong(0))
      assert(runs(of, all, 3).map(_.getLong(0)).toSeq.sorted == expected)
    }
  }
}
