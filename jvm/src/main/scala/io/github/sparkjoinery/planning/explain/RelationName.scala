package io.github.sparkjoinery.planning.explain

import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan, Range}
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2Relation, DataSourceV2ScanRelation}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

/** A short, readable name of a leaf of a plan. */
object RelationName {
  def nameOf(leaf: LogicalPlan): String = leaf match {
    case relation: LogicalRelation =>
      relation.catalogTable.map(_.identifier.unquotedString).getOrElse(relation.relation match {
        case files: HadoopFsRelation => files.location.rootPaths.headOption.fold("files")(_.getName)
        case other => other.toString
      })
    case relation: DataSourceV2Relation => relation.name
    case scan: DataSourceV2ScanRelation => nameOf(scan.relation)
    case cached: InMemoryRelation => cached.cacheBuilder.tableName.getOrElse("a cached query")
    case _: LocalRelation => "local rows"
    case _: Range => "range"
    case other => other.nodeName
  }
}
