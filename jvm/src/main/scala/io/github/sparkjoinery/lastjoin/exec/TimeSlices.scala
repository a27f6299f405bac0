package io.github.sparkjoinery.lastjoin.exec

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.execution.PartialReducerPartitionSpec
import org.apache.spark.sql.execution.adaptive.{AQEShuffleReadExec, ShuffleQueryStageExec}
import org.apache.spark.sql.joinery.JavaBytes

import io.github.sparkjoinery.execution.skew.{Cuts, Reservoir}
import io.github.sparkjoinery.lastjoin.stored.StoredTimes

/**
 * Computes where skewed partitions are cut by time, for both sides of a join. The cuts come from the stored
 * distribution of hot keys. For partitions without one, they are quantiles of a sample of the larger side, taken on
 * first use. Badly placed cuts make parts of unequal size, but never change the result.
 *
 * @param side
 *   the larger side
 * @param time
 *   a long over its output
 * @param stored
 *   times of either side's hot keys, from the artifact store
 */
class TimeSlices(
    @transient private val side: ShuffleQueryStageExec,
    time: Expression,
    @transient private val stored: Option[StoredTimes])
  extends Serializable {

  // used on the driver only; transient, because Spark's sort sends its whole subtree to the executors
  @transient private lazy val known = mutable.Map.empty[Map[Int, Int], Map[Int, Array[Long]]]

  /**
   * @param parts
   *   partition of the shuffle -> wanted number of parts
   * @return
   *   partition -> ascending cuts, fewer than parts; a row's part is the number of cuts up to its time
   */
  def cutsOf(parts: Map[Int, Int]): Map[Int, Array[Long]] = synchronized {
    known.getOrElseUpdate(
      parts, {
        val fromStore =
          parts.keys.flatMap(partition => stored.flatMap(_.partitions.get(partition)).map(partition -> _)).toMap
        val others = parts.keys.filterNot(fromStore.contains).toSeq.sorted
        val times = if (others.isEmpty) fromStore else fromStore ++ Cuts.byPartition(sample(others))
        parts.map { case (partition, count) =>
          partition -> Cuts.quantiles(times.getOrElse(partition, Nil).sortBy(_._1), count)
        }
      }
    )
  }

  /** The number of these partitions that a stored distribution cuts. */
  def storedAmong(partitions: Iterable[Int]): Int =
    partitions.count(partition => stored.exists(_.partitions.contains(partition)))

  // Equal for equal joins, so that exchanges above them are reused. Compared on the driver only.
  override def equals(other: Any): Boolean = other match {
    case that: TimeSlices => (this eq that) || key == that.key
    case _ => false
  }
  override def hashCode: Int = stored.map(_.relation).hashCode
  private def key = (side.canonicalized, QueryPlan.normalizeExpressions(time, side.output), stored)

  /** For EXPLAIN. */
  override def toString: String =
    stored.fold("cut by a sample")(times => s"cut by the distribution of ${times.relation}")

  /**
   * Samples the partitions in one job, whose tasks each read the output of a few mappers. Returns (partition, (time,
   * number of rows that it represents)).
   */
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
