package io.github.sparkjoinery.lastjoin.stored

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.adaptive.ShuffleQueryStageExec

import io.github.sparkjoinery.execution.skew.{Cuts, StoredHotKeys}

/**
 * Times of one side's hot keys, from its distribution in the artifact store, so that no sample is needed.
 *
 * @param relation
 *   identity of the side's relation
 * @param partitions
 *   partition of the shuffle -> times, each with the number of rows that it represents
 */
case class StoredTimes(relation: String, partitions: Map[Int, Seq[(Long, Double)]])

object StoredTimes {

  /**
   * @param stage
   *   the side's shuffle
   * @param keys
   *   the keys of the shuffle, over the side's columns
   * @param time
   *   a long over the side's columns
   * @return
   *   None if the store has no distribution by these keys and this time; an outdated one is good enough
   */
  def find(
      stage: ShuffleQueryStageExec,
      side: Option[LogicalPlan],
      keys: Seq[Expression],
      time: Expression): Option[StoredTimes] =
    for {
      partitionOf <- StoredHotKeys.partitioner(stage, keys)
      (relation, rows) <- StoredHotKeys.boundaries(side, keys, time, Seq(partitionOf, time))
    } yield {
      val times = rows.collect {
        case (values, weight) if values(1) != null =>
          values.head.asInstanceOf[Int] -> (values(1).asInstanceOf[Long], weight)
      }
      StoredTimes(relation, Cuts.byPartition(times).map { case (partition, of) => partition -> of.sortBy(_._1) })
    }
}
