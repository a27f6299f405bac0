package io.github.sparkjoinery.lastjoin.skew

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.adaptive.ShuffleQueryStageExec

import io.github.sparkjoinery.execution.skew.StoredHotKeys

/**
 * Times of the hot keys of one side of a join, by its distribution in the artifact store, in place of a sample.
 *
 * @param relation
 *   identity of the side's relation
 * @param partitions
 *   by partition of the shuffle, times and the number of rows that each stands for
 */
case class StoredTimes(relation: String, partitions: Map[Int, Seq[(Long, Double)]])

object StoredTimes {

  /**
   * @param stage
   *   of the side's shuffle
   * @param keys
   *   that it is shuffled by, over the side's columns
   * @param time
   *   a long over them
   * @return
   *   None without a distribution of the side's relation by those keys and that time; old ones will do, too
   */
  def of(
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
      StoredTimes(relation, times.groupMap(_._1)(_._2).map { case (partition, of) => partition -> of.sortBy(_._1) })
    }
}
