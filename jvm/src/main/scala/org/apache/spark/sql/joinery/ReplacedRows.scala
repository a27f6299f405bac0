package org.apache.spark.sql.joinery

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.write.RowLevelOperationTable
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2Relation, DataSourceV2ScanRelation}

/**
 * What an UPDATE, a DELETE or a MERGE reads of the table that it changes. All scans of one statement may share what
 * says which columns and rows they need, as Iceberg's do, so that another reader would change what the statement reads.
 */
object ReplacedRows {
  def areIn(plan: LogicalPlan): Boolean = plan.exists {
    case relation: DataSourceV2Relation => isReplaced(relation)
    case scan: DataSourceV2ScanRelation => isReplaced(scan.relation)
    case _ => false
  }

  private def isReplaced(relation: DataSourceV2Relation): Boolean = relation.table.isInstanceOf[RowLevelOperationTable]
}
