package io.github.sparkjoinery.window.parts

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import io.github.sparkjoinery.execution.skew.StoredHotKeys

/**
 * Hot keys and their times by the distribution in the artifact store.
 *
 * @param relation
 *   whose distribution it is
 */
private[window] case class StoredCuts(relation: String, times: Seq[SampledTime])

private[window] object StoredCuts {

  /** Its points are quantiles: between two of them are as many rows as the distribution says, if it is up to date. */
  val LeastPoints = 2

  /** @return None without a distribution by the window's keys and first ORDER BY column; old ones will do, too */
  def find(child: LogicalPlan, terms: CutTerms): Option[StoredCuts] =
    StoredHotKeys.boundaries(Some(child), terms.keys, terms.order.child, Seq(terms.id, terms.spread, terms.time)).map {
      case (relation, rows) => StoredCuts(
          relation,
          rows.map { case (Seq(id: Long, spread: Int, time), weight) =>
            SampledTime(id, spread, if (time == null) terms.nullTime else time.asInstanceOf[Long], weight)
          })
    }
}
