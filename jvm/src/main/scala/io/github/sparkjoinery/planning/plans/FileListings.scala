package io.github.sparkjoinery.planning.plans

import java.util.IdentityHashMap

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.{FileIndex, HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.joinery.FilesOf
import org.apache.spark.sql.joinery.SparkSession

import io.github.sparkjoinery.artifacts.FrozenFileIndex

/** Makes all scans of a query over the same index read the same listing of files, see [[FrozenFileIndex]]. */
class FileListings {
  private val known = new IdentityHashMap[FileIndex, FrozenFileIndex]

  def listed(index: FileIndex): FrozenFileIndex = synchronized(known.computeIfAbsent(index, FrozenFileIndex.freeze(_)))

  def listed(files: HadoopFsRelation): HadoopFsRelation =
    files.copy(location = listed(files.location))(SparkSession.active)

  /** Replaces the index of each matching scan in a plan and its subqueries by one that is listed once. */
  def replaceIn(plan: LogicalPlan)(isOne: FileIndex => Boolean): LogicalPlan = plan.transformDownWithSubqueries {
    case leaf: LogicalRelation if !leaf.isStreaming =>
      leaf match {
        case FilesOf(files) if isOne(files.location) => leaf.copy(relation = listed(files))
        case _ => leaf
      }
  }
}
