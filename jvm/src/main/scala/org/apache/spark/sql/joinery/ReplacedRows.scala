package org.apache.spark.sql.joinery

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.write.RowLevelOperationTable
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2Relation, DataSourceV2ScanRelation}

/**
 * Finds the table that an UPDATE, DELETE or MERGE changes. Its scans may share one state of pushed filters and columns,
 * as Iceberg's do. An additional scan of the table would change what the statement reads.
 */
object ReplacedRows {
  def areIn(plan: LogicalPlan): Boolean = plan.exists {
    case relation: DataSourceV2Relation => isReplaced(relation)
    case scan: DataSourceV2ScanRelation => isReplaced(scan.relation)
    case _ => false
  }

  private def isReplaced(relation: DataSourceV2Relation): Boolean = relation.table.isInstanceOf[RowLevelOperationTable]
}
