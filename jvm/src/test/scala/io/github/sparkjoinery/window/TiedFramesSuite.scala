package io.github.sparkjoinery.window

import java.util.concurrent.atomic.AtomicLong

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.joinery.DriverBuildMemory
import org.apache.spark.sql.types.{DataType, DoubleType, LongType}

import io.github.sparkjoinery.window.frames.{Columns, NumberColumn}
import io.github.sparkjoinery.window.kernels._
import io.github.sparkjoinery.window.program.FilteredFunction
import io.github.sparkjoinery.window.rows.RowCursor

/**
 * Sums that are computed anew for each frame because they may overflow: once where many rows share a RANGE frame, and
 * only as long as a frame holds what is so large.
 */
class TiedFramesSuite extends WindowChecks {

  private val Rows = 5000
  private val value = AttributeReference("v", LongType, nullable = false)()
  private def sum = new Sum(CountedValue(value))
  private val row = UnsafeProjection.create(Array[DataType](LongType))(InternalRow(7L))

  /** @param frame of a row: the first in it, and the one after the last */
  private def compute(kernel: Kernel, rows: Int)(frame: Int => (Int, Int)): Unit = {
    kernel.clear()
    CountedValue.calls.set(0)
    val (los, his) = (new Array[Int](FrameBatches.Rows), new Array[Int](FrameBatches.Rows))
    for (first <- 0 until rows by FrameBatches.Rows) {
      val count = math.min(FrameBatches.Rows, rows - first)
      for (k <- 0 until count) {
        val (lo, hi) = frame(first + k)
        los(k) = lo
        his(k) = hi
      }
      kernel.compute(first, count, los, his)
      assert(kernel.computed == count)
    }
  }

  /** Frames of two thirds of the rows each, one after the other: so each row is in two of them. */
  private def compute(kernel: Kernel): Unit = compute(kernel, Rows) { row =>
    val third = row * 3 / Rows
    (math.max(third - 1, 0) * Rows / 3, (third + 1) * Rows / 3)
  }

  private def checkCalls(): Unit = {
    val calls = CountedValue.calls.get
    assert(calls >= Rows && calls <= 3 * 2 * Rows, "the value is evaluated three times for each addition at most")
  }

  test("checked sums of integers: each frame is added up once") {
    // The sum of a frame's is all but too large.
    val columns = columnOf(Rows)(_ => Long.MaxValue / (Rows - Rows / 3 + 1))
    val (sums, averages) =
      (new NumberColumn(FrameBatches.Rows, LongType), new NumberColumn(FrameBatches.Rows, DoubleType))
    compute(new LongSums(columns, 0, null, sums, averages, new CheckedSum(sum, value, columns, 0)))
    checkCalls()
  }

  private def columnOf(rows: Int)(value: Int => Long): Columns = {
    val columns = new Columns(1, new DriverBuildMemory(Long.MaxValue), Long.MaxValue)
    val toUnsafe = UnsafeProjection.create(Array[DataType](LongType))
    for (row <- 0 until rows) { assert(columns.hasRoom); columns.add(toUnsafe(InternalRow(value(row))), 0) }
    columns
  }

  test("functions that are merged: each frame is added up once") {
    val merging = new Merging(Seq(FilteredFunction(sum, None)), Seq(value), mergeable = true)
    val results = Array.fill(FrameBatches.Rows)(merging.newResult())
    val guard = new OverflowGuard(1) {
      override def skipTo(row: Int): Unit = ()
      override protected def look(until: Int): Unit = see(1)
    }
    val cursor: RowCursor = () => row
    compute(new MergedFunctions(merging, _ => cursor, results, Array(guard)))
    checkCalls()
    assert(results(0).getLong(0) == 7L * (Rows - Rows / 3)) // of the last batch, in the last frame
  }

  private val (many, frame) = (20 * FrameBatches.Rows, 100)

  test("a number out of the ordinary: sums of integers are checked around it, not far behind it") {
    val columns = columnOf(many)(row => if (row == 0) Long.MinValue else 1)
    val sums = new NumberColumn(FrameBatches.Rows, LongType)
    compute(new LongSums(columns, 0, null, sums, null, new CheckedSum(sum, value, columns, 0)), many)(last)
    val calls = CountedValue.calls.get
    assert(calls >= frame * frame / 2 && calls <= 3 * 2 * frame * frame)
    assert(sums.getLong(0) == frame) // of the last batch
  }

  test("a number out of the ordinary: functions are merged again in the batches behind it") {
    val merging = new Merging(Seq(FilteredFunction(sum, None)), Seq(value), mergeable = true)
    val results = Array.fill(FrameBatches.Rows)(merging.newResult())
    val guard = new OverflowGuard(1000) {
      private var looked = 0
      override def skipTo(row: Int): Unit = ()
      override protected def look(until: Int): Unit =
        while (looked < until) { see(if (looked == 3 * FrameBatches.Rows) 1000 else 1); looked += 1 }
    }
    val cursor: RowCursor = () => row
    compute(new MergedFunctions(merging, _ => cursor, results, Array(guard)), many)(last)
    val calls = CountedValue.calls.get
    assert(calls >= FrameBatches.Rows * frame && calls <= 3 * (2 * FrameBatches.Rows * frame + 3 * many))
    assert(results(0).getLong(0) == 7L * frame)
  }

  private def last(row: Int): (Int, Int) = (math.max(row + 1 - frame, 0), row + 1)

  test("large and small numbers in turn, over ties that are longer than a batch") {
    sql("""SELECT id, int(id / 1100) AS day, if(int(id / 1100) % 3 = 1, 4611686018427387904L + id, id % 7 - 3) AS v,
          |  if(int(id / 1100) % 4 = 1, if(id % 2 = 0, 1.2e308D, -1.2e308D), id / 3D) AS x
          |FROM range(0, 8800, 1, 4)""".stripMargin).createOrReplaceTempView("turns")
    withConf("spark.sql.adaptive.enabled" -> "false", "spark.sql.ansi.enabled" -> "false") {
      val functions = Seq("count(v)", "try_sum(v)", "sum(v)", "avg(v)", "max(x)")
      val frames = Seq(
        "ORDER BY day RANGE BETWEEN 1 PRECEDING AND CURRENT ROW",
        "ORDER BY day RANGE BETWEEN 4 PRECEDING AND 3 PRECEDING",
        "ORDER BY id ROWS BETWEEN 100 PRECEDING AND CURRENT ROW"
      )
      val columns = for (frame <- frames; function <- functions) yield s"$function OVER ($frame)"
      checkWindow(s"SELECT id, ${columns.zipWithIndex.map { case (c, i) => s"$c AS f$i" }.mkString(", ")} FROM turns")
      val doubles = for (frame <- frames.take(2); function <- Seq("sum(x)", "avg(x)")) yield s"$function OVER ($frame)"
      val rounded = doubles.zipWithIndex.map { case (c, i) => s"string(float(round($c / 1e4, 3))) AS f$i" }
      checkWindow(s"SELECT id, ${rounded.mkString(", ")} FROM turns WHERE day % 4 <> 1 OR id % 2 = 0")
    }
  }

  test("large sums and averages over ties") {
    // All on one day: added up anew for each row, that would be billions of additions.
    sql("""SELECT id, 0 AS k, int(id / 25000) AS day, 1700000000000000000 + id AS ns,
          |  if(id = 0, 5000000000000000000L, 0L) AS v, CAST(id AS DECIMAL(38, 0)) * 1000000000000000000000000000BD AS n,
          |  if(id = 0, 1.7e308D, 0D) AS x FROM range(0, 60000, 1, 4)""".stripMargin).createOrReplaceTempView("ties")
    withConf("spark.sql.adaptive.enabled" -> "false", "spark.sql.ansi.enabled" -> "true") {
      val functions = Seq("avg(ns)", "sum(v)", "sum(n)", "sum(x)", "avg(x)", "try_sum(v)")
      val columns = functions.map(_ + " OVER (PARTITION BY k ORDER BY day RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)")
      checkWindow(
        s"""SELECT day, ${functions.indices.map(i => s"min(f$i), max(f$i)").mkString(", ")}
           |FROM (SELECT day, ${columns.zipWithIndex.map { case (column, i) => s"$column AS f$i" }.mkString(
            ", ")} FROM ties)
           |GROUP BY day""".stripMargin)
    }
  }
}

/** Of another expression, whose evaluations are counted. */
private case class CountedValue(child: Expression) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable
  override def eval(input: InternalRow): Any = { CountedValue.calls.incrementAndGet(); child.eval(input) }
  override protected def withNewChildInternal(newChild: Expression): CountedValue = copy(child = newChild)
}

private object CountedValue {
  val calls = new AtomicLong
}
