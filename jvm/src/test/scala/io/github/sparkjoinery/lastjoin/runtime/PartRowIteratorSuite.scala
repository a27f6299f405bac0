package io.github.sparkjoinery.lastjoin.runtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.joinery.ScarceMemory
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.github.sparkjoinery.JoinerySession
import io.github.sparkjoinery.execution.rows.RowGrouping

/** The rows that a slice of the right side passes and carries over, if memory is too small for all carried rows. */
class PartRowIteratorSuite extends JoinerySession {
  import PartRowIteratorSuite._

  for (longKeys <- Seq(true, false); left <- Seq(0L, 60000L, 300000L, 1500000L, 100000000L)) {
    test(s"${if (longKeys) "keys that are longs" else "keys of two columns"}, $left bytes left") {
      // each key comes three times, and passes once if memory is enough
      val passed = Iterator.fill(10)(rowsPassed(longKeys, left))
      if (left <= 300000) assert(passed.exists(_ > Keys), "memory was never scarce")
      else if (left == 100000000) assert(passed.next() == Keys)
      else passed.next()
    }
  }

  /**
   * The number of rows that pass. The last row of each key must be among them. Tests with scarce memory call it
   * repeatedly, because others in the JVM (such as broadcasts that are cleaned up) may give memory back at that moment.
   */
  private def rowsPassed(longKeys: Boolean, left: Long): Int = {
    val passed = spark.sparkContext.parallelize(Seq(0), 1).flatMap(_ => slice(longKeys, Keys, left)).collect()
    val lastOf = passed.groupBy(_._1).map { case (key, rows) => key -> rows.map(_._2) }
    val lost = (0 until Keys).filterNot(key => lastOf.get(key.toLong).exists(_.contains(lastTime(key))))
    assert(lost.isEmpty, "keys without their last row")
    assert(passed.length >= Keys && passed.length <= 3 * Keys)
    passed.length
  }
}

private object PartRowIteratorSuite {
  val Keys = 20000

  def lastTime(key: Int): Long = 90L - key % 7

  def slice(longKeys: Boolean, keys: Int, left: Long): Iterator[(Long, Long)] = {
    ScarceMemory.take(left)
    val types = Seq[DataType](LongType, LongType, StringType)
    val columns = types.zipWithIndex.map { case (dataType, i) => BoundReference(i, dataType, nullable = true) }
    val toUnsafe = UnsafeProjection.create(types.toArray)
    val rows = for (round <- Iterator(0, 2, 1); key <- Iterator.range(0, keys)) yield {
      val text = UTF8String.fromString("x" * (round * 40 + key % 50))
      toUnsafe(new GenericInternalRow(Array[Any](key.toLong, lastTime(key) - (2 - round) * 10, text))): InternalRow
    }
    val second = Literal(UTF8String.fromString("a"), StringType)
    val terms = RowGrouping(
      if (longKeys) columns.take(1) else Seq(columns.head, second),
      Seq(SortOrder(columns(1), Ascending)),
      Some(columns(1)),
      onlyLast = false,
      numFields = 3)
    new PartRowIterator(
      rows,
      UnsafeProjection.create(columns.slice(1, 2)),
      1,
      Array(100L),
      Some(terms),
      new SQLMetric("sum"))
      .map(row => (row.getLong(0), row.getLong(1)))
  }
}
