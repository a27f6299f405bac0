package io.github.sparkjoinery.execution.window.skew

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.PartialReducerPartitionSpec
import org.apache.spark.sql.execution.adaptive.{AQEShuffleReadExec, ShuffleQueryStageExec}

/**
 * Where a hot key is cut. Part i holds the times from cut i - 1 on, before cut i.
 *
 * @param froms of each cut, the earliest time that a frame of a row from the cut on reaches back to; only RANGE frames count
 * @param tos   the latest that a frame of a row before it reaches
 */
private[window] case class KeyCuts(times: Array[Long], froms: Array[Long], tos: Array[Long]) {
  def partOf(time: Long): Int = {
    var low = 0
    var high = times.length
    while (low < high) {
      val middle = (low + high) >>> 1
      if (times(middle) <= time) low = middle + 1 else high = middle
    }
    low
  }
}

/** A row of a sample, or of a stored distribution, and the number of rows that it stands for. */
private[skew] case class SampledTime(hash: Long, time: Long, from: Long, to: Long, weight: Double)

/** @param wraps whether the bound of a row, be it in the sample or not, has wrapped around */
private[skew] case class Sample(times: Seq[SampledTime], wraps: Boolean)

/**
 * Finds the hot keys of skewed partitions of a shuffle and cuts them along quantiles of their order column: by the distribution in the
 * artifact store, else by a sample, taken when it is first asked for. A bad cut costs balance, never a result.
 *
 * @param stored by partition; partitions without are sampled
 */
private[window] class WindowCuts(
    @transient private val stage: ShuffleQueryStageExec, val terms: SplitTerms, @transient private val stored: Option[StoredCuts])
  extends Serializable with Logging {

  @transient private lazy val known = mutable.Map.empty[Map[Int, Int], Map[Int, Map[Long, KeyCuts]]]

  /**
   * @param parts how many there are to be of each partition
   * @return by partition, the cuts of its hot keys by their hash
   */
  def of(parts: Map[Int, Int]): Map[Int, Map[Long, KeyCuts]] = synchronized {
    known.getOrElseUpdate(parts, {
      val fromStore = parts.keys.flatMap(partition => stored.flatMap(_.partitions.get(partition)).map(times => partition -> Sample(times, wraps = false))).toMap
      val others = parts.keys.filterNot(fromStore.contains).toSeq.sorted
      val samples = fromStore ++ (if (others.isEmpty) Nil else sample(others))
      parts.map { case (partition, count) => partition -> samples.get(partition).fold(Map.empty[Long, KeyCuts])(WindowCuts.ofPartition(_, count)) }
    })
  }

  /** In one job, tasks for a few mappers each. */
  private def sample(partitions: Seq[Int]): Map[Int, Sample] = {
    val mappers = stage.shuffle.numMappers
    val step = math.max(1, mappers / WindowCuts.TasksPerPartition)
    val specs = for (partition <- partitions; from <- 0 until mappers by step)
      yield PartialReducerPartitionSpec(partition, from, math.min(from + step, mappers), 0)
    val columns = (Seq(terms.hash, terms.time.word) ++ terms.bounds).map(BindReferences.bindReference(_, stage.output))
    val (nullWord, shifts) = (terms.time.nullWord, terms.shifts)
    AQEShuffleReadExec(stage, specs).execute().mapPartitionsWithIndex { (task, rows) =>
      val project = UnsafeProjection.create(columns)
      Iterator(specs(task).reducerIndex -> WindowCuts.sample(rows, project, columns.length, nullWord, shifts))
    }.collect().toSeq.groupMap(_._1)(_._2).map { case (partition, samples) =>
      partition -> Sample(samples.flatMap(_.times), samples.exists(_.wraps))
    }
  }

  override def toString: String = stored.fold("cut by a sample")(cuts => s"cut by the distribution of ${cuts.relation}")
}

private[window] object WindowCuts {
  private val SampleSize = 8192
  private val TasksPerPartition = 8

  /** A reservoir of rows (Li's algorithm L, which skips what it does not take). All rows are looked at only if their bounds may wrap around. */
  private def sample(rows: Iterator[InternalRow], project: UnsafeProjection, width: Int, nullWord: Long, shifts: Seq[Option[Long]]): Sample = {
    val kept = new mutable.ArrayBuffer[UnsafeRow](SampleSize)
    val random = new Random(0)
    val expected = shifts.zipWithIndex.collect { case (Some(shift), i) => (i + 2, shift) }.toArray
    var wraps = false
    var (count, next, weight) = (0L, 0L, 1.0)
    def skip(): Unit = {
      weight *= math.exp(math.log(1 - random.nextDouble()) / SampleSize)
      next += math.floor(math.log(1 - random.nextDouble()) / math.log1p(-weight)).toLong + 1
    }
    while (rows.hasNext) {
      val row = rows.next()
      if (expected.nonEmpty) wraps |= expected.exists { case (i, shift) => isShifted(project(row), i, shift) }
      if (count == next) {
        val projected = project(row).copy()
        if (kept.length < SampleSize) kept += projected else kept(random.nextInt(SampleSize)) = projected
        if (kept.length < SampleSize) next += 1 else skip()
      }
      count += 1
    }
    Sample(kept.map(sampled(_, width, nullWord, count.toDouble / kept.length)).toSeq, wraps)
  }

  private def isShifted(row: UnsafeRow, bound: Int, by: Long): Boolean =
    !row.isNullAt(1) && !row.isNullAt(bound) && BigInt(row.getLong(bound)) - row.getLong(1) != by

  /** @param row hash, time, and the bounds of frames */
  def sampled(row: UnsafeRow, width: Int, nullWord: Long, weight: Double): SampledTime = {
    val time = if (row.isNullAt(1)) nullWord else row.getLong(1)
    val bounds = (2 until width).map(i => if (row.isNullAt(i)) None else Some(row.getLong(i)))
    // without a bound, as by an error that is Spark's to raise: everything
    SampledTime(row.getLong(0), time,
      if (bounds.contains(None)) Long.MinValue else (time +: bounds.flatten).min,
      if (bounds.contains(None)) Long.MaxValue else (time +: bounds.flatten).max, weight)
  }

  /** A key is hot when half a part would not hold it; cut where its values differ. One whose mass is on a single value has no cuts. */
  def ofPartition(sample: Sample, parts: Int): Map[Long, KeyCuts] = {
    val total = sample.times.iterator.map(_.weight).sum
    sample.times.groupBy(_.hash).filter(_._2.iterator.map(_.weight).sum >= total / (2 * parts)).map { case (hash, times) =>
      hash -> (if (sample.wraps) KeyCuts(Array.emptyLongArray, Array.emptyLongArray, Array.emptyLongArray) else cut(times, parts))
    }
  }

  private def cut(times: Seq[SampledTime], parts: Int): KeyCuts = {
    val sorted = times.sortBy(_.time)
    val total = sorted.iterator.map(_.weight).sum
    val cuts = mutable.ArrayBuffer.empty[SampledTime]
    var (sum, next) = (0.0, 1)
    sorted.foreach { sampled =>
      sum += sampled.weight
      if (next < parts && sum > total * next / parts) {
        while (next < parts && sum > total * next / parts) next += 1
        if (sampled.time > cuts.lastOption.getOrElse(sorted.head).time) cuts += sampled
      }
    }
    KeyCuts(cuts.map(_.time).toArray, cuts.map(_.from).toArray, cuts.map(_.to).toArray)
  }
}
