package io.github.sparkjoinery.filters.built

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.v2.{
  DataSourceV2Relation,
  DataSourceV2ScanRelation,
  V2ScanRelationPushDown
}

import io.github.sparkjoinery.artifacts.TableSnapshot

/**
 * Builds scans of tables that have versions, such as those of Iceberg. Spark builds the query's scans after all rules
 * for filters have run, but none in a subquery that such a rule has added. A filter's scan is therefore built before
 * the query's. Both read the same rows only if the table has the same version at both times.
 */
object VersionedScans {

  /**
   * Builds the scans of a plan.
   *
   * @return
   *   the plan with scans, and the versions of the tables that it reads; None if a version is changing
   */
  def of(plan: LogicalPlan): Option[(LogicalPlan, Seq[String])] = {
    val before = versions(plan)
    if (before.isEmpty) Some((plan, before))
    else {
      val scans = V2ScanRelationPushDown(plan)
      if (versions(scans) == before) Some((scans, before)) else None
    }
  }

  /** The versions of a plan's tables, in the order of its leaves. */
  def versions(plan: LogicalPlan): Seq[String] = plan.collectLeaves().collect {
    case relation: DataSourceV2Relation => relation
    case scan: DataSourceV2ScanRelation => scan.relation
  }.map(relation => TableSnapshot.versionOf(relation.table).orNull)
}
