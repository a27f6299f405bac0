package io.github.sparkjoinery.lastjoin.skew

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.execution.PartialReducerPartitionSpec
import org.apache.spark.sql.execution.adaptive.{AQEShuffleReadExec, ShuffleQueryStageExec}
import org.apache.spark.sql.joinery.JavaBytes

import io.github.sparkjoinery.execution.skew.{Cuts, Reservoir}

/**
 * Where the time of skewed partitions is cut, the same for both sides of a join: by the distribution of their hot keys
 * in the artifact store; where there is none, at quantiles of a sample of the larger side, taken when they are first
 * asked for. A bad cut costs balance, never a result.
 *
 * @param side
 *   the larger side
 * @param time
 *   a long over its output
 * @param stored
 *   of either side
 */
class TimeSlices(
    @transient private val side: ShuffleQueryStageExec,
    time: Expression,
    @transient private val stored: Option[StoredTimes])
  extends Serializable {

  // Only the driver asks; but Spark's sort, with whatever is below it, goes to the executors.
  @transient private lazy val known = mutable.Map.empty[Map[Int, Int], Map[Int, Array[Long]]]

  /**
   * @param parts
   *   how many there are to be of each partition of the shuffle
   * @return
   *   by partition, ascending, fewer than parts; a row belongs to as many parts after the first as there are cuts up to
   *   its time
   */
  def of(parts: Map[Int, Int]): Map[Int, Array[Long]] = synchronized {
    known.getOrElseUpdate(
      parts, {
        val fromStore =
          parts.keys.flatMap(partition => stored.flatMap(_.partitions.get(partition)).map(partition -> _)).toMap
        val others = parts.keys.filterNot(fromStore.contains).toSeq.sorted
        val times = if (others.isEmpty) fromStore else fromStore ++ sample(others).groupMap(_._1)(_._2)
        parts.map { case (partition, count) =>
          partition -> Cuts.quantiles(times.getOrElse(partition, Nil).sortBy(_._1), count)
        }
      }
    )
  }

  /** How many of these partitions are cut by a stored distribution. */
  def storedAmong(partitions: Iterable[Int]): Int =
    partitions.count(partition => stored.exists(_.partitions.contains(partition)))

  // The same for equal joins, so that what is shuffled above them is shuffled once. Only the driver compares.
  override def equals(other: Any): Boolean = other match {
    case that: TimeSlices => (this eq that) || key == that.key
    case _ => false
  }
  override def hashCode: Int = stored.map(_.relation).hashCode
  private def key = (side.canonicalized, QueryPlan.normalizeExpressions(time, side.output), stored)

  /** For EXPLAIN. */
  override def toString: String =
    stored.fold("cut by a sample")(times => s"cut by the distribution of ${times.relation}")

  /** In one job, tasks for a few mappers each: of each partition, times and the number of rows that each stands for. */
  private def sample(partitions: Seq[Int]): Seq[(Int, (Long, Double))] = {
    val mappers = side.shuffle.numMappers
    val step = math.max(1, mappers / TimeSlices.TasksPerPartition)
    val specs = for (partition <- partitions; from <- 0 until mappers by step)
      yield PartialReducerPartitionSpec(partition, from, math.min(from + step, mappers), 0)
    val bound = BindReferences.bindReference(time, side.output)
    JavaBytes.collect(AQEShuffleReadExec(side, specs).execute().mapPartitionsWithIndex { (task, rows) =>
      val timeOf = UnsafeProjection.create(Seq(bound))
      val times = rows.map(timeOf(_)).filterNot(_.isNullAt(0)).map(_.getLong(0))
      TimeSlices.sample(times).iterator.map(specs(task).reducerIndex -> _)
    })
  }
}

object TimeSlices {
  private val SampleSize = 4096
  private val TasksPerPartition = 8

  private def sample(times: Iterator[Long]): Seq[(Long, Double)] = {
    val reservoir = new Reservoir[Long](SampleSize)
    times.foreach(time => if (reservoir.wantsNext) reservoir.keep(time) else reservoir.skip())
    reservoir.kept.map(_ -> reservoir.rowsPerKept)
  }
}
