package io.github.sparkjoinery.filters.runtime

import java.util.UUID

import scala.util.control.NonFatal

import org.apache.spark.SparkException
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.CoalescedPartitionSpec
import org.apache.spark.sql.execution.adaptive.{AQEShuffleReadExec, LogicalQueryStage, ShuffleQueryStageExec}
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.expressions.SplitBlockFilter
import io.github.sparkjoinery.planning.CancelledJob
import io.github.sparkjoinery.planning.explain.RelationName

/**
 * The keys of the rows of a finished shuffle.
 *
 * @param filter
 *   the filter of the keys; None if there are too many, or if a key raised an error
 * @param extremes
 *   the smallest and the largest value of each term
 * @param tables
 *   the names of the tables that the rows come from
 */
case class ShuffledKeys(filter: Option[SplitBlockFilter], extremes: Extremes, tables: Seq[String])

object ShuffledKeys extends Logging {

  // The keys of a shuffle that have been read. All places that read the shuffle share them.
  private val Known = TreeNodeTag[Map[Seq[Expression], Option[ShuffledKeys]]]("joinery_shuffled_keys")
  // A task reads so many bytes.
  private val BytesPerTask = 4L << 20

  /**
   * Reads the keys of a finished shuffle in a job.
   *
   * @param hash
   *   the hash of a row's keys, which is NULL for a row that matches nothing; None if there are no equal keys
   * @param terms
   *   the terms over a row whose smallest and largest values are wanted
   * @return
   *   None if the job fails; a query runs on without the filter
   */
  def read(stage: ShuffleQueryStageExec, hash: Option[Expression], terms: Seq[Expression]): Option[ShuffledKeys] = {
    val bound = BindReferences.bindReferences(hash.getOrElse(Literal(0L)) +: terms, stage.output)
    val known = stage.shuffle.getTagValue(Known).getOrElse(Map.empty)
    known.getOrElse(
      bound, {
        val found = read(stage, bound, hash.isDefined)
        stage.shuffle.setTagValue(Known, known + (bound -> found))
        found
      })
  }

  private def read(stage: ShuffleQueryStageExec, bound: Seq[Expression], hasKeys: Boolean): Option[ShuffledKeys] = {
    val limit = JoineryConf.runtimeFilterMaxKeys
    try {
      val found = reader(stage).execute()
        .mapPartitions(rows => Iterator.single(ofTask(rows, bound.head, bound.tail, limit))).collect()
      val all = KeyHashes(limit)
      found.foreach { case (bytes, _) => all.addAll(KeyHashes.ofBytes(bytes, limit)) }
      val extremes = found.map(_._2).reduceOption(_ merge _).getOrElse(new Extremes(bound.tail))
      val tables = stage.logicalLink.toSeq.flatMap(tablesOf).map(RelationName.nameOf).distinct
      val filter = (if (hasKeys) all.toFilter else None).map(filterOf(_, tables.mkString(", ")))
      Some(ShuffledKeys(filter, extremes, tables))
    } catch {
      case error: SparkException if !CancelledJob.isCause(error) =>
        logWarning("A query runs without a runtime filter, because its keys could not be read", error)
        None
    }
  }

  private def ofTask(rows: Iterator[InternalRow], hash: Expression, terms: Seq[Expression], limit: Int) = {
    val keys = KeyHashes(limit)
    val extremes = new Extremes(terms)
    rows.foreach { row =>
      // a key that raises an error may match any row
      val value =
        try hash.eval(row)
        catch {
          case NonFatal(_) =>
            keys.giveUp()
            0L
        }
      if (value != null) {
        keys.add(value.asInstanceOf[Long])
        extremes.add(row)
      }
    }
    (keys.toBytes, extremes)
  }

  private def tablesOf(plan: LogicalPlan): Seq[LogicalPlan] = plan.collectLeaves().flatMap {
    case stage: LogicalQueryStage => tablesOf(stage.logicalPlan)
    case leaf => Seq(leaf)
  }

  /** Makes a filter of the bytes that [[KeyHashes.toFilter]] has written. */
  def filterOf(bytes: Array[Byte], source: String): SplitBlockFilter = {
    val (keys, words) = KeyHashes.readFilter(bytes)
    new SplitBlockFilter(s"$keys keys of $source", UUID.randomUUID().toString, words.length / 4, words)
  }

  private def reader(stage: ShuffleQueryStageExec): AQEShuffleReadExec = {
    val sizes = stage.mapStats.fold(Array.fill(stage.shuffle.numPartitions)(0L))(_.bytesByPartitionId)
    val tasks = (sizes.sum / BytesPerTask + 1).min(sizes.length).toInt.max(1)
    val ends = (0 to tasks).map(i => (sizes.length.toLong * i / tasks).toInt)
    AQEShuffleReadExec(
      stage,
      ends.zip(ends.tail).map { case (from, to) => CoalescedPartitionSpec(from, to, Some(sizes.slice(from, to).sum)) })
  }
}
