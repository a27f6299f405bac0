package io.github.sparkjoinery.execution.skew

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.{CoalescedPartitionSpec, ShufflePartitionSpec}
import org.apache.spark.sql.execution.adaptive.{AQEShuffleReadExec, ShuffleQueryStageExec}

/**
 * Where the time of a skewed partition is cut, the same for both sides of a join: quantiles of a sample of both, taken when
 * they are first asked for. A bad cut costs balance, never a result.
 *
 * @param leftTime,rightTime longs over the stages' output
 */
class TimeSlices(
    @transient private val left: ShuffleQueryStageExec, leftTime: Expression,
    @transient private val right: ShuffleQueryStageExec, rightTime: Expression) extends Serializable {

  // Only the driver asks; but Spark's sort, with whatever is below it, goes to the executors.
  @transient private lazy val cuts = mutable.Map.empty[(Int, Int), Array[Long]]

  /**
   * @param partition of the shuffle
   * @param parts     how many there are to be
   * @return ascending; a row belongs to as many parts after the first as there are cuts up to its time
   */
  def of(partition: Int, parts: Int): Array[Long] = synchronized {
    cuts.getOrElseUpdate((partition, parts), {
      val sample = (times(left, leftTime, partition) ++ times(right, rightTime, partition)).sortBy(_._1)
      TimeSlices.quantiles(sample, parts)
    })
  }

  /** A sample of times, each with the number of rows that it stands for. */
  private def times(stage: ShuffleQueryStageExec, time: Expression, partition: Int): Array[(Long, Double)] = {
    val bound = BindReferences.bindReference(time, stage.output)
    TimeSlices.read(stage, Seq(CoalescedPartitionSpec(partition, partition + 1, 0))).mapPartitions { rows =>
      val timeOf = UnsafeProjection.create(Seq(bound))
      TimeSlices.sample(rows.map(timeOf(_)).filterNot(_.isNullAt(0)).map(_.getLong(0)))
    }.collect()
  }
}

object TimeSlices {
  private val SampleSize = 4096

  private def read(stage: ShuffleQueryStageExec, specs: Seq[ShufflePartitionSpec]): RDD[InternalRow] =
    AQEShuffleReadExec(stage, specs).execute()

  private[skew] def sample(times: Iterator[Long]): Iterator[(Long, Double)] = {
    val kept = new mutable.ArrayBuffer[Long](SampleSize)
    val random = new Random(0)
    var count = 0L
    times.foreach { time =>
      count += 1
      if (kept.length < SampleSize) {
        kept += time
      } else {
        val place = random.nextDouble() * count
        if (place < SampleSize) kept(place.toInt) = time
      }
    }
    val weight = count.toDouble / math.max(kept.length, 1)
    kept.iterator.map(_ -> weight)
  }

  private[skew] def quantiles(sample: Seq[(Long, Double)], parts: Int): Array[Long] = {
    val total = sample.map(_._2).sum
    var sum = 0.0
    val cuts = mutable.ArrayBuffer.empty[Long]
    sample.foreach { case (time, weight) =>
      sum += weight
      if (sum > total * (cuts.length + 1) / parts && cuts.length < parts - 1) cuts += time
    }
    cuts.toArray
  }

  /** The part that a time belongs to. */
  def partOf(time: Long, cuts: Array[Long]): Int = {
    var low = 0
    var high = cuts.length
    while (low < high) {
      val middle = (low + high) >>> 1
      if (cuts(middle) <= time) low = middle + 1 else high = middle
    }
    low
  }
}
