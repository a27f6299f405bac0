package io.github.sparkjoinery.planning

import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan, Range}
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.execution.datasources.{FileIndex, HadoopFsRelation, InMemoryFileIndex, LogicalRelation}

import io.github.sparkjoinery.artifacts.{ListedFiles, TableSnapshot}

/**
 * Whether a query that reads a table twice has the same rows both times, although somebody writes to it meanwhile: what
 * it reads is settled before the query runs.
 */
object PinnedTable {

  def is(leaf: LogicalPlan): Boolean = leaf match {
    case LogicalRelation(files: HadoopFsRelation, _, _, _, _) => isListed(files.location)
    // A version, such as a snapshot of Iceberg, can be compared. What a MERGE is about to replace has none.
    case relation: DataSourceV2Relation => TableSnapshot.versionOf(relation.table).isDefined
    case cached: InMemoryRelation => isKept(cached)
    case _: LocalRelation | _: Range => true
    case _ => false
  }

  /** A cache computes a block again that it has lost: storage on disk does not outlive its executor. */
  private def isKept(cached: InMemoryRelation): Boolean =
    cached.cacheBuilder.isCachedColumnBuffersLoaded && Repeatable.ofOneOperator(cached)

  /** An index that lists files may be listed anew; a query with filters reads one listing of it ([[ListOnce]]). */
  private def isListed(files: FileIndex): Boolean = isOfFiles(files) || isOfDeltaSnapshot(files)

  def isOfFiles(index: FileIndex): Boolean = index.isInstanceOf[InMemoryFileIndex] || index.isInstanceOf[ListedFiles]

  // Delta's rule `PrepareDeltaScan` puts it in the place of an index that looks for the newest version. It is found by
  // its name, as Joinery is built without Delta.
  private def isOfDeltaSnapshot(files: FileIndex): Boolean =
    files.getClass.getName == "org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex"
}
