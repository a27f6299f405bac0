package io.github.sparkjoinery.execution.window.skew

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.adaptive.ShuffleQueryStageExec

import io.github.sparkjoinery.execution.skew.StoredTimes

/**
 * The boundaries of hot keys by the distribution in the artifact store, in place of a sample.
 *
 * @param relation whose distribution it is
 */
private[window] case class StoredCuts(relation: String, partitions: Map[Int, Seq[SampledTime]])

private[window] object StoredCuts {

  /** @return None without a distribution by the window's keys and first ORDER BY column; old ones will do, too */
  def of(stage: ShuffleQueryStageExec, child: Option[LogicalPlan], terms: SplitTerms): Option[StoredCuts] = {
    val columns = Seq(terms.hash, terms.time.word) ++ terms.bounds
    StoredTimes.rowsOfHotKeys(stage, child, terms.keys, terms.order.head.child, columns).map { case (relation, rows) =>
      val project = UnsafeProjection.create(columns.zipWithIndex.map { case (column, i) => BoundReference(i, column.dataType, nullable = true) })
      StoredCuts(relation, rows.groupMap(_._1) { case (_, values, weight) =>
        WindowCuts.sampled(project(org.apache.spark.sql.catalyst.InternalRow.fromSeq(values)), columns.length, terms.time.nullWord, weight)
      })
    }
  }
}
