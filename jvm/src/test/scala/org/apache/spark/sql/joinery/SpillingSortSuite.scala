package org.apache.spark.sql.joinery

import scala.reflect.ClassTag

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.apache.spark.{SparkEnv, TaskContext}

import io.github.sparkjoinery.JoinerySession

/** Sorts that take rows while others in the task want memory, of which there is less than the rows need. */
class SpillingSortSuite extends JoinerySession {
  import SpillingSortSuite._

  private def inTask[T: ClassTag](body: => T): T = {
    val context = spark.sparkContext
    ScarceMemory.withShareOf(cores = 1000)(context.parallelize(Seq(0), 1).map(_ => body).collect().head)
  }

  private def isSorted(seen: Seen): Unit = assert(seen.found == (Rows.toLong - seen.taken until Rows.toLong))

  for (count <- Seq(2, 3)) test(s"$count sorts take rows in turn, the first of which has all memory before") {
    val (seen, files) = inTask(inTurn(count))
    seen.foreach(isSorted)
    assert(files < 30, s"$files files were written")
  }

  test("who shuffles the task's rows gets memory of a sort that is not full yet") {
    val (granted, seen) = inTask(besideShuffle())
    assert(granted == Left / 2)
    isSorted(seen)
  }

  test("another thread of the task takes nothing of a sort that is not full yet") {
    val (before, after, seen) = inTask(besideThread())
    assert(after == before)
    isSorted(seen)
  }

  test("no rows at all") {
    assert(inTask(newSort(newSorts()).sorted().isEmpty))
  }
}

private object SpillingSortSuite {

  /** @param taken how many rows a sort took; @param found the numbers that it gave back */
  case class Seen(taken: Long, found: Seq[Long])

  val Left: Long = 1L << 20 // what a task has
  val Rows = 3000 // that take three times as much
  private val columns =
    Seq(AttributeReference("id", LongType, nullable = false)(), AttributeReference("s", StringType)())

  def newSorts(): SpillingSorts = new SpillingSorts(new SQLMetric("size"))
  def newSort(sorts: SpillingSorts) = new SpillingSort(Seq(SortOrder(columns.head, Ascending)), columns, sorts)

  /** So many rows, numbered from the end of all. */
  private def rows(count: Int): Iterator[UnsafeRow] = {
    val toUnsafe = UnsafeProjection.create(columns.map(_.dataType).toArray)
    Iterator.range(0, count).map { i =>
      toUnsafe(new GenericInternalRow(Array[Any]((Rows - 1 - i).toLong, UTF8String.fromString("x" * 1000))))
    }
  }

  /** Gives a sort rows until it has nearly all of the task's memory. @return how many */
  private def fill(sort: SpillingSort): Int = {
    ScarceMemory.takeForGood(Left)
    rows(Rows).takeWhile(_ => sort.held < Left - (160 << 10)).map(sort.insert).length
  }

  private def seen(sort: SpillingSort, taken: Int) = Seen(taken.toLong, sort.sorted().map(_.getLong(0)).toList)

  /** @return as well how many files were written */
  def inTurn(count: Int): (Seq[Seen], Int) = {
    val sorts = newSorts()
    val (first, others) = (newSort(sorts), Seq.fill(count - 1)(newSort(sorts)))
    val filled = fill(first)
    for (row <- rows(Rows); sort <- others) sort.insert(row)
    val files = SparkEnv.get.blockManager.diskBlockManager.getAllFiles().count(_.getName.startsWith("temp_local_"))
    (seen(first, filled) +: others.map(seen(_, Rows)), files)
  }

  /** @return how much who shuffles the rows was given, and what became of them */
  def besideShuffle(): (Long, Seen) = {
    val sort = newSort(newSorts())
    val filled = fill(sort)
    val writer = new ScarceMemory.Greedy
    val granted = writer.take(Left / 2)
    val result = (granted, seen(sort, filled))
    writer.giveBack()
    result
  }

  /** @return how many bytes the sort held before another thread wanted them, and after, and what became of its rows */
  def besideThread(): (Long, Long, Seen) = {
    val sort = newSort(newSorts())
    val filled = fill(sort)
    val before = sort.held
    val (context, writer) = (TaskContext.get(), new ScarceMemory.Greedy)
    val other = new Thread(() => {
      TaskContext.setTaskContext(context)
      writer.take(Left)
      ()
    })
    other.start()
    other.join()
    val after = sort.held
    writer.giveBack()
    (before, after, seen(sort, filled))
  }
}
