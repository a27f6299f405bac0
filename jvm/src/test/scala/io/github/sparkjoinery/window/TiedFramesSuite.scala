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

/** Sums over a RANGE frame that many rows share, which are computed anew for each frame because they may overflow. */
class TiedFramesSuite extends WindowChecks {

  private val Rows = 5000
  private val value = AttributeReference("v", LongType, nullable = false)()
  private def sum = new Sum(CountedValue(value))
  private val row = UnsafeProjection.create(Array[DataType](LongType))(InternalRow(7L))

  /** Frames of two thirds of the rows each, one after the other: so each row is in two of them. */
  private def compute(kernel: Kernel): Unit = {
    kernel.clear()
    CountedValue.calls.set(0)
    val (los, his) = (new Array[Int](FrameBatches.Rows), new Array[Int](FrameBatches.Rows))
    for (first <- 0 until Rows by FrameBatches.Rows) {
      val count = math.min(FrameBatches.Rows, Rows - first)
      for (k <- 0 until count) {
        val third = (first + k) * 3 / Rows
        los(k) = math.max(third - 1, 0) * Rows / 3
        his(k) = (third + 1) * Rows / 3
      }
      kernel.compute(first, count, los, his)
      assert(kernel.computed == count)
    }
  }

  private def checkCalls(): Unit = {
    val calls = CountedValue.calls.get
    assert(calls >= Rows && calls <= 3 * 2 * Rows, "the value is evaluated three times for each addition at most")
  }

  test("checked sums of integers: each frame is added up once") {
    val columns = new Columns(1, new DriverBuildMemory(Long.MaxValue), Long.MaxValue)
    for (_ <- 0 until Rows) { assert(columns.hasRoom); columns.add(large, 0) }
    val (sums, averages) =
      (new NumberColumn(FrameBatches.Rows, LongType), new NumberColumn(FrameBatches.Rows, DoubleType))
    compute(new LongSums(columns, 0, null, sums, averages, new CheckedSum(sum, value, columns, 0)))
    checkCalls()
  }

  // The sum of a frame's is all but too large.
  private def large =
    UnsafeProjection.create(Array[DataType](LongType))(InternalRow(Long.MaxValue / (Rows - Rows / 3 + 1)))

  test("functions that are merged: each frame is added up once") {
    val merging = new Merging(Seq(FilteredFunction(sum, None)), Seq(value), mergeable = true)
    val results = Array.fill(FrameBatches.Rows)(merging.newResult())
    val guard = new OverflowGuard(1) {
      override def skipTo(row: Int): Unit = ()
      override def look(until: Int): Unit = see(1)
    }
    val cursor: RowCursor = () => row
    compute(new MergedFunctions(merging, _ => cursor, results, Array(guard)))
    checkCalls()
    assert(results(0).getLong(0) == 7L * (Rows - Rows / 3)) // of the last batch, in the last frame
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
