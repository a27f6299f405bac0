package io.github.sparkjoinery.artifacts

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{FilePruningRunner, PartitionDirectory}

/** Drops the files that do not pass predicates on `_metadata`. */
object MetadataFilters {
  def prune(directories: Seq[PartitionDirectory], data: Seq[Expression]): Seq[PartitionDirectory] = {
    val files = new FilePruningRunner(data)
    directories.map(files.prune)
  }
}
