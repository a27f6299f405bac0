package io.github.sparkjoinery.artifacts

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{FileIndex, PartitionDirectory}
import org.apache.spark.sql.types.StructType

/**
 * A `FileIndex` of a subset of another index's files.
 *
 * @param some
 *   paths of the files in the subset
 */
class FileSubsetIndex(all: FileIndex, some: Set[String]) extends FileIndex {
  override def rootPaths: Seq[Path] = all.rootPaths
  override def listFiles(partitions: Seq[Expression], data: Seq[Expression]): Seq[PartitionDirectory] =
    all.listFiles(partitions, data).map { directory =>
      directory.copy(files = directory.files.filter(file => some(file.getPath.toString)))
    }.filter(_.files.nonEmpty)
  override def inputFiles: Array[String] = listFiles(Nil, Nil).flatMap(_.files).map(_.getPath.toUri.toString).toArray
  override def refresh(): Unit = all.refresh()
  override def sizeInBytes: Long = listFiles(Nil, Nil).flatMap(_.files).map(_.getLen).sum
  override def partitionSchema: StructType = all.partitionSchema

  override def equals(other: Any): Boolean = other match {
    case files: FileSubsetIndex => files.key == key
    case _ => false
  }
  override def hashCode: Int = key.hashCode
  private def key = (rootPaths, some)
}
