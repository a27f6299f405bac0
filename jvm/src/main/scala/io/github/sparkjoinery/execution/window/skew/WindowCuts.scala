package io.github.sparkjoinery.execution.window.skew

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.internal.Logging
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
      val fromStore = parts.keys.flatMap(partition => stored.flatMap(_.partitions.get(partition)).map(partition -> _)).toMap
      val others = parts.keys.filterNot(fromStore.contains).toSeq.sorted
      val times = if (others.isEmpty) fromStore else fromStore ++ sample(others)
      parts.map { case (partition, count) => partition -> WindowCuts.ofPartition(times.getOrElse(partition, Nil), count) }
    })
  }

  /** In one job, tasks for a few mappers each. */
  private def sample(partitions: Seq[Int]): Map[Int, Seq[SampledTime]] = {
    val mappers = stage.shuffle.numMappers
    val step = math.max(1, mappers / WindowCuts.TasksPerPartition)
    val specs = for (partition <- partitions; from <- 0 until mappers by step)
      yield PartialReducerPartitionSpec(partition, from, math.min(from + step, mappers), 0)
    val columns = (Seq(terms.hash, terms.time.word) ++ terms.bounds).map(BindReferences.bindReference(_, stage.output))
    val nullWord = terms.time.nullWord
    AQEShuffleReadExec(stage, specs).execute().mapPartitionsWithIndex { (task, rows) =>
      val project = UnsafeProjection.create(columns)
      WindowCuts.reservoir(rows.map(project(_)), columns.length, nullWord).map(specs(task).reducerIndex -> _)
    }.collect().toSeq.groupMap(_._1)(_._2)
  }

  override def toString: String = stored.fold("cut by a sample")(cuts => s"cut by the distribution of ${cuts.relation}")
}

private[window] object WindowCuts {
  private val SampleSize = 8192
  private val TasksPerPartition = 8

  private def reservoir(rows: Iterator[UnsafeRow], width: Int, nullWord: Long): Iterator[SampledTime] = {
    val kept = new mutable.ArrayBuffer[UnsafeRow](SampleSize)
    val random = new Random(0)
    var count = 0L
    rows.foreach { row =>
      count += 1
      if (kept.length < SampleSize) kept += row.copy()
      else {
        val place = random.nextDouble() * count
        if (place < SampleSize) kept(place.toInt) = row.copy()
      }
    }
    val weight = count.toDouble / math.max(kept.length, 1)
    kept.iterator.map(sampled(_, width, nullWord, weight))
  }

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
  def ofPartition(sample: Seq[SampledTime], parts: Int): Map[Long, KeyCuts] = {
    val total = sample.iterator.map(_.weight).sum
    sample.groupBy(_.hash).filter(_._2.iterator.map(_.weight).sum >= total / (2 * parts)).map { case (hash, times) => hash -> cut(times, parts) }
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
