package io.github.sparkjoinery.window

import java.util.concurrent.atomic.AtomicLong

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.{DataType, LongType}

import io.github.sparkjoinery.window.logical.program.FilteredFunction
import io.github.sparkjoinery.window.runtime.FrameBatches
import io.github.sparkjoinery.window.runtime.kernels.{AggregateEvaluator, Kernel, MergeKernel}
import io.github.sparkjoinery.window.runtime.rows.RowCursor

/**
 * Frames that are added up in order because they hold an extreme value. Rows that share a RANGE frame share one such
 * sum. Frames without an extreme value are computed as usual.
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

  private val cursor: RowCursor = () => row
  private val evaluator = new AggregateEvaluator(Seq(FilteredFunction(sum, None)), Seq(value), mergeable = true)
  private val results = Array.fill(FrameBatches.Rows)(evaluator.newResult())

  private def merged(extreme: Int => Boolean): Kernel = {
    var looked = -1
    val predicate: BasePredicate = _ => { looked += 1; extreme(looked) }
    new MergeKernel(evaluator, predicate, _ => cursor, results)
  }

  test("rows with the same frame share a sum in order") {
    // frames of two thirds of the rows each, so that a row is in two of them
    compute(merged(_ => true), Rows) { row =>
      val third = row * 3 / Rows
      (math.max(third - 1, 0) * Rows / 3, (third + 1) * Rows / 3)
    }
    val calls = CountedValue.calls.get
    assert(calls >= 3 * Rows && calls <= 3 * 5 * Rows, "the value is evaluated three times for each addition at most")
    assert(results(0).getLong(0) == 7L * (Rows - Rows / 3)) // of the last batch, in the last frame
  }

  test("only frames that hold an extreme value are added up in order") {
    val (many, frame) = (20 * FrameBatches.Rows, 100)
    compute(merged(_ == 3 * FrameBatches.Rows), many)(row => (math.max(row + 1 - frame, 0), row + 1))
    val calls = CountedValue.calls.get
    assert(calls >= frame * frame && calls <= 3 * (frame * frame + 3 * many))
    assert(results(0).getLong(0) == 7L * frame)
  }

  test("large and small numbers in turn, over ties that are longer than a batch") {
    sql("""SELECT id, int(id / 1100) AS day, if(int(id / 1100) % 3 = 1, 4611686018427387904L + id, id % 7 - 3) AS v,
          |  if(int(id / 1100) % 4 = 1, if(id % 2 = 0, 1.2e308D, -1.2e308D), id / 3D) AS x
          |FROM range(0, 8800, 1, 4)""".stripMargin).createOrReplaceTempView("turns")
    withConf("spark.sql.adaptive.enabled" -> "false", "spark.sql.ansi.enabled" -> "false") {
      val functions = Seq("count(v)", "sum(v)", "max(x)")
      val frames = Seq(
        "ORDER BY day RANGE BETWEEN 1 PRECEDING AND CURRENT ROW",
        "ORDER BY day RANGE BETWEEN 4 PRECEDING AND 3 PRECEDING",
        "ORDER BY id ROWS BETWEEN 100 PRECEDING AND CURRENT ROW"
      )
      val columns = for (frame <- frames; function <- functions) yield s"$function OVER ($frame)"
      checkWindow(s"SELECT id, ${columns.zipWithIndex.map { case (c, i) => s"$c AS f$i" }.mkString(", ")} FROM turns")
      val doubles =
        for (frame <- frames.take(2); function <- Seq("sum(x)", "avg(x)", "avg(v)")) yield s"$function OVER ($frame)"
      val rounded = doubles.zipWithIndex.map { case (c, i) => s"string(float(round($c / 1e4, 3))) AS f$i" }
      checkWindow(s"SELECT id, ${rounded.mkString(", ")} FROM turns WHERE day % 4 <> 1 OR id % 2 = 0")
    }
  }

  test("large sums and averages over ties") {
    // Many rows share a day. Adding up the frame of each row would take billions of additions.
    sql("""SELECT id, 0 AS k, int(id / 25000) AS day, 1700000000000000000 + id AS ns,
          |  if(id = 0, 5000000000000000000L, 0L) AS v, CAST(id AS DECIMAL(38, 0)) * 1000000000000000000000000000BD AS n,
          |  if(id = 0, 1.7e308D, 0D) AS x FROM range(0, 60000, 1, 4)""".stripMargin).createOrReplaceTempView("ties")
    withConf("spark.sql.adaptive.enabled" -> "false", "spark.sql.ansi.enabled" -> "true") {
      val functions = Seq("sum(v)", "sum(n)", "sum(x)", "avg(x)", "stddev(x)")
      val columns = functions.map(_ + " OVER (PARTITION BY k ORDER BY day RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)")
      checkWindow(
        s"""SELECT day, ${functions.indices.map(i => s"min(f$i), max(f$i)").mkString(", ")}
           |FROM (SELECT day, ${columns.zipWithIndex.map { case (column, i) => s"$column AS f$i" }.mkString(
            ", ")} FROM ties)
           |GROUP BY day""".stripMargin)
    }
  }
}

/** Returns the value of another expression, and counts its evaluations. */
private case class CountedValue(child: Expression) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable
  override def eval(input: InternalRow): Any = { CountedValue.calls.incrementAndGet(); child.eval(input) }
  override protected def withNewChildInternal(newChild: Expression): CountedValue = copy(child = newChild)
}

private object CountedValue {
  val calls = new AtomicLong
}
