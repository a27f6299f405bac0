package io.github.sparkjoinery.artifacts

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.PartitionDirectory

/** Keeps all files. Before Spark 4.0 only Spark's own index can apply predicates on `_metadata`; the filter stays. */
object MetadataFilters {
  def prune(directories: Seq[PartitionDirectory], data: Seq[Expression]): Seq[PartitionDirectory] = directories
}
