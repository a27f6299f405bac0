package io.github.sparkjoinery.rangejoin.stored

import java.io.Closeable

import org.apache.hadoop.fs.Path

import org.apache.spark.paths.SparkPath
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.execution.datasources.{FileFormat, PartitionedFile}
import org.apache.spark.sql.types.{StructField, StructType}
import org.apache.spark.sql.vectorized.ColumnarBatch

import io.github.sparkjoinery.artifacts.{ArtifactVersion, RangeIndexVersion}

/**
 * The rows of a stored range index, as a side of a join has them. It goes to the executors.
 *
 * @param files
 *   of the version's data, in the order in which they are sorted among each other
 * @param count
 *   rows in them
 * @param schema
 *   of the columns that are read
 * @param columns
 *   of the side, over the columns that are read
 * @param predicate
 *   that rows of the side pass, over the same
 */
private[stored] case class StoredRows(
    files: Seq[PartitionedFile],
    count: Long,
    schema: StructType,
    columns: Seq[Expression],
    predicate: Option[Expression],
    read: PartitionedFile => Iterator[InternalRow]) {

  /**
   * What rows are read, and how: the same for sides of the same rows. Expressions alone do not say it, as they number
   * the columns that are read, which are others for each side.
   */
  def key: Seq[Any] =
    Seq(files.map(_.filePath), schema, columns.map(_.canonicalized), predicate.map(_.canonicalized))

  /**
   * Gives the side's rows of a file, in the file's order; a row is good until the next.
   *
   * @param take
   *   returns whether it wants more
   * @return
   *   how many rows the file has; -1 if there were more than were wanted
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
   *   columns, over those of the relation
   * @param predicate
   *   over those of the relation, too
   * @param relation
   *   the relation's columns
   */
  def of(
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
    hadoop.setBoolean("parquet.page.verify-checksum.enabled", true) // Spark's writer adds the checksums
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
