package io.github.sparkjoinery.filters.runtime

import java.util.UUID
import java.util.concurrent.TimeoutException

import scala.concurrent.duration._

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.CoalescedPartitionSpec
import org.apache.spark.sql.execution.adaptive.{AQEShuffleReadExec, ShuffleQueryStageExec}
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.expressions.SplitBlockFilter

/**
 * The keys of rows that have been shuffled.
 *
 * @param filter
 *   the keys
 * @param extremes
 *   the smallest and the largest value of each term; null where a row's value is not known
 */
case class ShuffledKeys(filter: Option[SplitBlockFilter], extremes: Extremes)

object ShuffledKeys extends Logging {

  // A task reads so many bytes.
  private val BytesPerTask = 4L << 20

  /**
   * Reads the keys of a stage in a job of its own.
   *
   * @param hash
   *   the hash of a row's keys; NULL is equal to nothing
   * @param terms
   *   expressions over a row whose smallest and largest values are wanted
   * @return
   *   None if that takes longer than `spark.joinery.runtimeFilter.buildTimeout`
   */
  def read(stage: ShuffleQueryStageExec, hash: Option[Expression], terms: Seq[Expression]): Option[ShuffledKeys] = {
    val limit = JoineryConf.runtimeFilterMaxKeys
    val bound = BindReferences.bindReferences(hash.getOrElse(Literal(0L)) +: terms, stage.output)
    val read = reader(stage).execute().mapPartitions { rows =>
      val keys = KeyHashes(limit)
      val extremes = new Extremes(bound.tail)
      val key = bound.head
      rows.foreach { row =>
        val value = key.eval(row)
        if (value != null) {
          keys.add(value.asInstanceOf[Long])
          extremes.add(row)
        }
      }
      Iterator.single((keys.toBytes, extremes))
    }.collectAsync()
    try {
      val found = read.result(JoineryConf.runtimeFilterBuildTimeoutMs.millis)(null)
      val all = KeyHashes(limit)
      found.foreach { case (bytes, _) => all.addAll(KeyHashes.ofBytes(bytes, limit)) }
      val extremes = found.map(_._2).reduceOption(_ merge _).getOrElse(new Extremes(terms))
      Some(ShuffledKeys(hash.flatMap(_ => all.toFilter).map(filterOf), extremes))
    } catch {
      case _: TimeoutException =>
        read.cancel()
        logWarning("No runtime filter: its keys were not read within spark.joinery.runtimeFilter.buildTimeout")
        None
    }
  }

  def filterOf(bytes: Array[Byte]): SplitBlockFilter = {
    val (keys, words) = KeyHashes.readFilter(bytes)
    new SplitBlockFilter(s"$keys keys", UUID.randomUUID().toString, words.length / 4, words)
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
