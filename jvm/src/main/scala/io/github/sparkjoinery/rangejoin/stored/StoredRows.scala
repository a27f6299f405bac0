package io.github.sparkjoinery.rangejoin.stored

import java.io.Closeable

import org.apache.hadoop.fs.Path

import org.apache.spark.paths.SparkPath
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.execution.datasources.{FileFormat, PartitionedFile}
import org.apache.spark.sql.joinery.SparkSession
import org.apache.spark.sql.types.{StructField, StructType}
import org.apache.spark.sql.vectorized.ColumnarBatch

import io.github.sparkjoinery.artifacts.{ArtifactVersion, RangeIndexVersion}

/**
 * Reads a side's rows from the files of a stored range index. It is sent to the executors.
 *
 * @param files
 *   the data files in sort order
 * @param count
 *   number of rows in the files
 * @param schema
 *   the columns to read
 * @param columns
 *   the side's columns, bound to the columns read
 * @param predicate
 *   the side's predicate, bound to the columns read
 */
private[stored] case class StoredRows(
    files: Seq[PartitionedFile],
    count: Long,
    schema: StructType,
    columns: Seq[Expression],
    predicate: Option[Expression],
    read: PartitionedFile => Iterator[InternalRow]) {

  /**
   * Identifies the rows: equal for two sides that read the same rows. The bound expressions alone are not enough, since
   * they refer to columns by position in `schema`.
   */
  def key: Seq[Any] =
    Seq(files.map(_.filePath), schema, columns.map(_.canonicalized), predicate.map(_.canonicalized))

  /**
   * Passes the side's rows of a file to `take`, in file order. Each row is overwritten by the next.
   *
   * @param take
   *   returns false to stop
   * @return
   *   number of rows in the file; -1 if `take` stopped
   */
  def foreach(file: PartitionedFile)(take: UnsafeRow => Boolean): Long = {
    val toUnsafe = UnsafeProjection.create(columns)
    val passes = predicate.map(Predicate.create(_))
    var seen = 0L
    def takeRow(row: InternalRow): Boolean = {
      seen += 1
      passes.exists(!_.eval(row)) || take(toUnsafe(row))
    }
    val batches = read(file)
    try {
      while (batches.hasNext) {
        val wantsMore = (batches.next(): Any) match {
          case batch: ColumnarBatch =>
            val rows = batch.rowIterator()
            var wants = true
            while (wants && rows.hasNext) wants = takeRow(rows.next())
            wants
          case row => takeRow(row.asInstanceOf[InternalRow])
        }
        if (!wantsMore) return -1
      }
    } finally {
      batches match {
        case closeable: Closeable => closeable.close()
        case _ =>
      }
    }
    seen
  }
}

private[stored] object StoredRows {

  /**
   * @param side
   *   the side's columns, over the relation's columns
   * @param predicate
   *   over the relation's columns, too
   * @param relation
   *   the relation's columns
   */
  def load(
      version: ArtifactVersion,
      side: Seq[Expression],
      predicate: Option[Expression],
      relation: Seq[Attribute],
      session: SparkSession): StoredRows = {
    val used = AttributeSet((side ++ predicate).flatMap(_.references))
    val readColumns = relation.filter(used.contains)
    val schema = StructType(readColumns.map(column => StructField(column.name, column.dataType)))
    StoredRows(
      RangeIndexVersion.files(version).map { file =>
        val path = new Path(version.folder, file.path)
        PartitionedFile(InternalRow.empty, SparkPath.fromPath(path), 0, file.length, fileSize = file.length)
      },
      RangeIndexVersion.rows(version),
      schema,
      BindReferences.bindReferences(side, readColumns),
      predicate.map(BindReferences.bindReference(_, readColumns)),
      reader(schema, session)
    )
  }

  private def reader(schema: StructType, session: SparkSession): PartitionedFile => Iterator[InternalRow] = {
    val format = new ParquetFileFormat
    val hadoop = session.sessionState.newHadoopConf()
    hadoop.setBoolean("parquet.page.verify-checksum.enabled", true) // Spark's writer wrote the checksums
    format.buildReaderWithPartitionValues(
      session,
      dataSchema = schema,
      partitionSchema = new StructType,
      requiredSchema = schema,
      filters = Nil,
      options = Map(FileFormat.OPTION_RETURNING_BATCH -> format.supportBatch(session, schema).toString),
      hadoopConf = hadoop
    )
  }
}
