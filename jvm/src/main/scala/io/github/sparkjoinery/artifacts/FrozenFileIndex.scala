package io.github.sparkjoinery.artifacts

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.expressions.{And, Attribute, BoundReference, Expression, Predicate}
import org.apache.spark.sql.execution.datasources.{FileIndex, PartitionDirectory}
import org.apache.spark.sql.types.StructType

/**
 * A `FileIndex` that lists its files once and never again. Spark's own index is listed when a scan first runs, and each
 * INSERT refreshes the session's index in place. Two scans of one query may therefore read different files.
 *
 * Two of these are equal if their files are. Spark's own indexes compare only the root paths.
 */
class FrozenFileIndex private (val index: FileIndex) extends FileIndex {
  private lazy val directories: Seq[PartitionDirectory] = index.listFiles(Nil, Nil)
  private lazy val files = directories.flatMap(_.files)
    .map(file => (file.getPath.toString, file.getLen, file.getModificationTime)).toSet

  /** Lists the files unless they are listed already. */
  def list(): Unit = directories

  /** Returns the files that pass the predicates on partition columns and on `_metadata`. */
  override def listFiles(partitions: Seq[Expression], data: Seq[Expression]): Seq[PartitionDirectory] = {
    val kept = partitions.reduceOption(And).fold(directories) { condition =>
      val passes = Predicate.createInterpreted(condition.transform { case column: Attribute =>
        BoundReference(partitionSchema.fieldNames.indexOf(column.name), column.dataType, nullable = true)
      })
      directories.filter(directory => passes.eval(directory.values))
    }
    MetadataFilters.prune(kept, data)
  }
  override def rootPaths: Seq[Path] = index.rootPaths
  override def inputFiles: Array[String] = directories.flatMap(_.files).map(_.getPath.toUri.toString).toArray
  override def refresh(): Unit = ()
  override def sizeInBytes: Long = index.sizeInBytes
  override def partitionSchema: StructType = index.partitionSchema
  override def metadataOpsTimeNs: Option[Long] = index.metadataOpsTimeNs

  override def equals(other: Any): Boolean = other match {
    case listed: FrozenFileIndex => (listed eq this) || rootPaths == listed.rootPaths && files == listed.files
    case _ => false
  }
  override def hashCode: Int = rootPaths.hashCode
}

object FrozenFileIndex {
  def freeze(index: FileIndex): FrozenFileIndex = index match {
    case listed: FrozenFileIndex => listed
    case other => new FrozenFileIndex(other)
  }

  def unapply(listed: FrozenFileIndex): Some[FileIndex] = Some(listed.index)
}
