package io.github.sparkjoinery.execution.rows

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection}
import org.apache.spark.sql.joinery.{ReplayedRows, ScarceMemory, SpillLimits, TaskBuildMemory}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.apache.spark.{SparkEnv, TaskContext}

import io.github.sparkjoinery.JoinerySession

/** Rows that are read repeatedly, from any row on, while other consumers in the task want their memory. */
class ReplayedRowsSuite extends JoinerySession {
  import ReplayedRowsSuite._

  private def run(rows: Int, limits: SpillLimits, wanted: Long): Seen =
    spark.sparkContext.parallelize(Seq(0), 1).map(_ => ReplayedRowsSuite.run(rows, limits, wanted)).collect().head

  private val unlimited = SpillLimits(Int.MaxValue, Long.MaxValue)

  for {
    rows <- Seq(0, 1, 10, 5000)
    (name, limits) <- Seq(
      "no limit" -> unlimited,
      "40 rows" -> unlimited.copy(rows = 40),
      "100,000 bytes" -> unlimited.atMost(100000))
    wanted <- Seq(0L, 4L << 10, 1L << 50)
  } {
    test(s"$rows rows, $name, $wanted bytes wanted by others") {
      val seen = run(rows, limits, wanted)
      assert(seen.wrong.isEmpty, "from these rows on others were read than were added")
      assert(seen.excess <= FreeOfCharge, "bytes are held that are not accounted for")
      assert(seen.leftAtEnd == 0, "bytes are held after the last row")
      assert(
        seen.spilled == (rows >= 5000 && (wanted > (4L << 10) || limits != unlimited)),
        "whether rows went to disk")
      assert(seen.files == 0, "a file is left")
    }
  }
}

private object ReplayedRowsSuite {
  case class Seen(wrong: Seq[Int], excess: Long, leftAtEnd: Long, spilled: Boolean, files: Int)

  /** Bytes of the block that is being filled, of one that is read from disk, and of the list of blocks. */
  val FreeOfCharge: Long = 3 * (64L << 10)

  def run(count: Int, limits: SpillLimits, wanted: Long): Seen = {
    val other = new ScarceMemory.Greedy
    val memory = TaskBuildMemory()
    val rows = new ReplayedRows(2, limits, memory)
    val passes = new Passes(rows, count, () => if (wanted > 0) other.take(wanted), () => memory.acquired)
    // twice, as the rows of one key follow those of another
    val wrong = Seq(0, 1000000).flatMap(passes.wrong)
    val spilled = rows.spillSize > 0 && TaskContext.get().taskMetrics().diskBytesSpilled > 0
    other.giveBack()
    rows.close()
    val files = SparkEnv.get.blockManager.diskBlockManager.getAllFiles().count(_.getName.startsWith("temp_local_"))
    Seen(wrong, passes.excess, memory.acquired, spilled, files)
  }

  /** Adds rows, and reads them from random rows on, while other consumers want memory now and then. */
  private final class Passes(rows: ReplayedRows, count: Int, disturb: () => Unit, acquired: () => Long) {
    private val random = new Random(count)
    private val toUnsafe = UnsafeProjection.create(Array[DataType](LongType, StringType))

    /** The most bytes that were held beyond the acquired ones. */
    var excess = 0L

    /** The places from which other rows are read than were added. Rows are numbered from `first` on. */
    def wrong(first: Int): Seq[Int] = {
      rows.clear()
      (first until first + count).foreach(id => rows.add(toUnsafe(row(id))))
      (Seq(0, count) ++ Seq.fill(30)(random.nextInt(count + 1))).filterNot(from => readsRight(from, first))
    }

    private def row(id: Int) =
      new GenericInternalRow(Array[Any](id.toLong, UTF8String.fromString("x" * (id % 300))))

    private def readsRight(from: Int, first: Int): Boolean = {
      val reader = rows.reader(from)
      val until = if (random.nextBoolean()) count else from + random.nextInt(count - from + 1)
      val right = (first + from until first + until).forall { id =>
        if (random.nextInt(500) == 0) disturb()
        val row = reader.read()
        row.getLong(0) == id && row.getUTF8String(1).numBytes == id % 300
      }
      excess = math.max(excess, HeldHeap.of(reader) - acquired())
      right && (until < count || reader.read() == null)
    }
  }
}
