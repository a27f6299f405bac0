package io.github.sparkjoinery.artifacts

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.expressions.{And, Attribute, BoundReference, Expression, Predicate}
import org.apache.spark.sql.execution.datasources.{FileIndex, FilePruningRunner, PartitionDirectory}
import org.apache.spark.sql.types.StructType

/**
 * A relation's files as they were listed once, whoever reads them, and whatever is written since. An index of Spark is
 * listed when a scan first runs, and the session's own is listed anew, in place, by each INSERT: two scans of one
 * query, or a scan and what was known of its files before, may differ.
 *
 * Equal are those of equal files; to Spark's indexes, equal roots are enough.
 */
class ListedFiles private (val index: FileIndex) extends FileIndex {
  private lazy val directories: Seq[PartitionDirectory] = index.listFiles(Nil, Nil)
  private lazy val files = directories.flatMap(_.files)
    .map(file => (file.getPath.toString, file.getLen, file.getModificationTime)).toSet

  /** Lists the files, if that has not been done. */
  def list(): Unit = directories

  /** Those that conditions about partitions, and about `_metadata`, leave. */
  override def listFiles(partitions: Seq[Expression], data: Seq[Expression]): Seq[PartitionDirectory] = {
    val files = new FilePruningRunner(data)
    partitions.reduceOption(And).fold(directories) { condition =>
      val passes = Predicate.createInterpreted(condition.transform { case column: Attribute =>
        BoundReference(partitionSchema.fieldNames.indexOf(column.name), column.dataType, nullable = true)
      })
      directories.filter(directory => passes.eval(directory.values))
    }.map(files.prune)
  }
  override def rootPaths: Seq[Path] = index.rootPaths
  override def inputFiles: Array[String] = directories.flatMap(_.files).map(_.getPath.toUri.toString).toArray
  override def refresh(): Unit = ()
  override def sizeInBytes: Long = index.sizeInBytes
  override def partitionSchema: StructType = index.partitionSchema
  override def metadataOpsTimeNs: Option[Long] = index.metadataOpsTimeNs

  override def equals(other: Any): Boolean = other match {
    case listed: ListedFiles => (listed eq this) || rootPaths == listed.rootPaths && files == listed.files
    case _ => false
  }
  override def hashCode: Int = rootPaths.hashCode
}

object ListedFiles {
  def of(index: FileIndex): ListedFiles = index match {
    case listed: ListedFiles => listed
    case other => new ListedFiles(other)
  }

  def unapply(listed: ListedFiles): Some[FileIndex] = Some(listed.index)
}
