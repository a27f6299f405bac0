package org.apache.spark.sql.joinery

import scala.reflect.ClassTag

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.github.sparkjoinery.JoinerySession

/** A sort in a task that has less memory than its rows need. */
class SpillingSortSuite extends JoinerySession {
  import SpillingSortSuite._

  private def inTask[T: ClassTag](body: => T): T = {
    val context = spark.sparkContext
    ScarceMemory.withShareOf(cores = 1000)(context.parallelize(Seq(0), 1).map(_ => body).collect().head)
  }

  test("rows that do not fit into memory") {
    assert(inTask(sorted(Rows)) == ((0L until Rows.toLong), true))
  }

  test("no rows at all") {
    assert(inTask(sorted(0)) == ((Nil, false)))
  }
}

private object SpillingSortSuite {
  val Left: Long = 1L << 20 // what a task has
  val Rows = 3000 // that take three times as much
  private val columns =
    Seq(AttributeReference("id", LongType, nullable = false)(), AttributeReference("s", StringType)())

  /** @return the numbers of so many rows, inserted in descending order, and whether any were spilled */
  def sorted(count: Int): (Seq[Long], Boolean) = {
    ScarceMemory.takeForGood(Left)
    val size = new SQLMetric("size")
    val sort = new SpillingSort(Seq(SortOrder(columns.head, Ascending)), columns, size)
    val toUnsafe = UnsafeProjection.create(columns.map(_.dataType).toArray)
    for (i <- 0 until count)
      sort.insert(toUnsafe(new GenericInternalRow(Array[Any](
        (count - 1 - i).toLong,
        UTF8String.fromString("x" * 1000)))))
    val found = sort.sorted().map(_.getLong(0)).toList
    (found, size.value > 0)
  }
}
