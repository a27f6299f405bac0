package io.github.sparkjoinery.planning.plans

import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan, Range}
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.execution.datasources.{FileIndex, InMemoryFileIndex}
import org.apache.spark.sql.joinery.FilesOf

import io.github.sparkjoinery.artifacts.{FrozenFileIndex, TableSnapshot}

/**
 * Tests if a query that reads a table twice gets the same rows both times, even if the table changes meanwhile. The
 * rows of such a table are fixed before the query runs.
 */
object PinnedTable {

  def isPinned(leaf: LogicalPlan): Boolean = leaf match {
    case FilesOf(files) => isListed(files.location)
    // Versions, such as Iceberg snapshots, can be compared. A table that a MERGE is about to replace has no version.
    case relation: DataSourceV2Relation => TableSnapshot.versionOf(relation.table).isDefined
    case cached: InMemoryRelation => isKept(cached)
    case _: LocalRelation | _: Range => true
    case _ => false
  }

  /**
   * True if the cache is loaded and its plan returns the same rows again. Spark computes lost blocks again: a block on
   * disk does not outlive its executor.
   */
  private def isKept(cached: InMemoryRelation): Boolean =
    cached.cacheBuilder.isCachedColumnBuffersLoaded && Repeatable.withinOneOperator(cached)

  /**
   * True if the index has a fixed list of files. An index may be listed again, but a query with filters reads one
   * listing ([[FileListings]]).
   */
  private def isListed(files: FileIndex): Boolean = isOfFiles(files) || isOfDeltaSnapshot(files)

  private def isOfFiles(index: FileIndex): Boolean =
    index.isInstanceOf[InMemoryFileIndex] || index.isInstanceOf[FrozenFileIndex]

  // True for the index of a Delta snapshot. Delta's rule `PrepareDeltaScan` puts it in place of an index that looks for
  // the newest version. The test is by name, because Joinery is built without Delta.
  private def isOfDeltaSnapshot(files: FileIndex): Boolean =
    files.getClass.getName == "org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex"
}
