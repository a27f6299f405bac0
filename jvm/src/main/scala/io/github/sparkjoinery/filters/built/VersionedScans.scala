package io.github.sparkjoinery.filters.built

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.v2.{
  DataSourceV2Relation,
  DataSourceV2ScanRelation,
  V2ScanRelationPushDown
}

import io.github.sparkjoinery.artifacts.TableSnapshot

/**
 * Scans of tables that have versions, Iceberg's for example. Spark makes the query's scans when all rules for filters
 * have run, but none within a subquery that such a rule has added. So a filter's scan is made before the query's, and
 * both read the same only if the table still has the same version once the query's is made, too.
 */
object VersionedScans {

  /** @return the plan with scans, and the versions of the tables that it reads; None if a version is changing */
  def of(plan: LogicalPlan): Option[(LogicalPlan, Seq[String])] = {
    val before = versions(plan)
    if (before.isEmpty) Some((plan, before))
    else {
      val scans = V2ScanRelationPushDown(plan)
      if (versions(scans) == before) Some((scans, before)) else None
    }
  }

  /** Of the tables of a plan, in the order of its leaves. */
  def versions(plan: LogicalPlan): Seq[String] = plan.collectLeaves().collect {
    case relation: DataSourceV2Relation => relation
    case scan: DataSourceV2ScanRelation => scan.relation
  }.map(relation => TableSnapshot.versionOf(relation.table).orNull)
}
