package io.github.sparkjoinery.window.stored

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import io.github.sparkjoinery.execution.skew.StoredHotKeys
import io.github.sparkjoinery.window.logical.{CutTerms, SampledTime}

/**
 * Hot keys and their times from a distribution in the artifact store.
 *
 * @param relation
 *   the relation of the distribution
 */
private[window] case class StoredCuts(relation: String, times: Seq[SampledTime])

private[window] object StoredCuts {

  /**
   * The least number of stored points around a cut. They are quantiles: if the distribution is current, it says how
   * many rows lie between two of them.
   */
  val LeastPoints = 2

  /** Finds the distribution of the window's keys and first ORDER BY column. An outdated one is good enough. */
  def find(child: LogicalPlan, terms: CutTerms): Option[StoredCuts] =
    StoredHotKeys.boundaries(Some(child), terms.keys, terms.order.child, Seq(terms.id, terms.spread, terms.time)).map {
      case (relation, rows) => StoredCuts(
          relation,
          rows.map { case (Seq(id: Long, spread: Int, time), weight) =>
            SampledTime(id, spread, if (time == null) terms.nullTime else time.asInstanceOf[Long], weight)
          })
    }
}
