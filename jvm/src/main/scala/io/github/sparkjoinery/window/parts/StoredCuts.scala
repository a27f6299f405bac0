package io.github.sparkjoinery.window.parts

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.adaptive.ShuffleQueryStageExec

import io.github.sparkjoinery.execution.skew.StoredHotKeys

/**
 * The boundaries of hot keys by the distribution in the artifact store, in place of a sample.
 *
 * @param relation
 *   whose distribution it is
 * @param times
 *   by partition of a shuffle, where that was asked for
 */
private[window] case class StoredCuts(relation: String, times: Seq[(Int, SampledTime)]) {
  lazy val partitions: Map[Int, Seq[SampledTime]] = times.groupMap(_._1)(_._2)
  def sample: Sample = Sample(times.map(_._2), wraps = false)
}

private[window] object StoredCuts {

  /** @return None without a distribution by the window's keys and first ORDER BY column; old ones will do, too */
  def of(child: Option[LogicalPlan], terms: SplitTerms): Option[StoredCuts] = of(child, terms, Literal(0))

  /** The same for one partition of a shuffle after the other. */
  def byPartition(stage: ShuffleQueryStageExec, child: Option[LogicalPlan], terms: SplitTerms): Option[StoredCuts] =
    StoredHotKeys.partitioner(stage, terms.keys).flatMap(of(child, terms, _))

  // Whether a bound wraps around, only the rows themselves tell.
  private def of(child: Option[LogicalPlan], terms: SplitTerms, partition: Expression): Option[StoredCuts] =
    if (terms.shifts.exists(_.isDefined)) None
    else {
      val columns = Sample.columns(terms)
      StoredHotKeys.boundaries(child, terms.keys, terms.order.head.child, partition +: columns).map {
        case (relation, rows) =>
          val project = UnsafeProjection.create(columns.zipWithIndex.map { case (column, i) =>
            BoundReference(i, column.dataType, nullable = true)
          })
          StoredCuts(
            relation,
            rows.map { case (values, weight) =>
              values.head.asInstanceOf[Int] -> Sample.of(
                project(InternalRow.fromSeq(values.tail)),
                columns.length,
                terms.time.nullWord,
                weight)
            }
          )
      }
    }
}
