package io.github.sparkjoinery.window.parts

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.PartialReducerPartitionSpec
import org.apache.spark.sql.execution.adaptive.{AQEShuffleReadExec, ShuffleQueryStageExec}
import org.apache.spark.sql.joinery.JavaBytes

/**
 * Cuts the hot keys of skewed partitions of a shuffle that has been written: several tasks read the same partition, and
 * each keeps its part. By the distribution in the artifact store, else by a sample, taken when it is first asked for.
 *
 * @param stored
 *   by partition; partitions without are sampled
 */
private[window] class CutAtRead(
    @transient private val stage: ShuffleQueryStageExec,
    val terms: SplitTerms,
    @transient private val stored: Option[StoredCuts])
  extends WindowCuts {

  @transient private lazy val known = mutable.Map.empty[Map[Int, Int], Map[Int, Map[Long, KeyCuts]]]

  /** Once for a plan, whose stages may run again. */
  @transient private lazy val mayCut = terms.hold

  /**
   * @param parts
   *   how many there are to be of each partition
   * @return
   *   by partition, the cuts of its hot keys by their hash; no keys where the query runs under settings that the terms
   *   do not hold for
   */
  def of(parts: Map[Int, Int]): Map[Int, Map[Long, KeyCuts]] = synchronized {
    if (!mayCut) parts.map { case (partition, _) => partition -> Map.empty[Long, KeyCuts] }
    else known.getOrElseUpdate(
      parts, {
        val fromStore = parts.keys.flatMap(partition =>
          stored.flatMap(_.partitions.get(partition)).map(times => partition -> Sample(times, wraps = false))).toMap
        val others = parts.keys.filterNot(fromStore.contains).toSeq.sorted
        val samples = fromStore ++ (if (others.isEmpty) Nil else sample(others))
        parts.map { case (partition, count) =>
          partition -> samples.get(partition).fold(Map.empty[Long, KeyCuts])(KeyCuts.ofHotKeys(_, count, None))
        }
      }
    )
  }

  /** In one job, tasks for a few mappers each. */
  private def sample(partitions: Seq[Int]): Map[Int, Sample] = {
    val mappers = stage.shuffle.numMappers
    val step = math.max(1, mappers / CutAtRead.TasksPerPartition)
    val specs = for (partition <- partitions; from <- 0 until mappers by step)
      yield PartialReducerPartitionSpec(partition, from, math.min(from + step, mappers), 0)
    val columns = Sample.columns(terms).map(BindReferences.bindReference(_, stage.output))
    val ofTask = new Sample.OfTask(terms, CutAtRead.SampleSize)
    JavaBytes.collect(AQEShuffleReadExec(stage, specs).execute().mapPartitionsWithIndex { (task, rows) =>
      val project = UnsafeProjection.create(columns)
      Iterator(specs(task).reducerIndex -> ofTask.take(rows, project(_)))
    }).groupMap(_._1)(_._2).map { case (partition, samples) => partition -> Sample.all(samples) }
  }

  // The same for equal windows, so that what is shuffled above them is shuffled once. Only the driver compares.
  override def equals(other: Any): Boolean = other match {
    case that: CutAtRead => (this eq that) || key == that.key
    case _ => false
  }
  override def hashCode: Int = terms.bounds.length
  private def key = (stage.canonicalized, terms.normalized(stage.output), stored)

  override def toString: String =
    stored.fold("cut by a sample, when read")(cuts => s"cut by the distribution of ${cuts.relation}, when read")
}

private object CutAtRead {
  val SampleSize = 8192 // of each task
  val TasksPerPartition = 8
}
