package org.apache.spark.sql.joinery

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

/** Extracts the files of a table. The number of fields of a `LogicalRelation` differs between Spark versions. */
object FilesOf {
  def unapply(plan: LogicalPlan): Option[HadoopFsRelation] = plan match {
    case relation: LogicalRelation => relation.relation match {
        case files: HadoopFsRelation => Some(files)
        case _ => None
      }
    case _ => None
  }
}
