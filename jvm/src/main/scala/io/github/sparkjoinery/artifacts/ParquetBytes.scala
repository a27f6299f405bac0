package io.github.sparkjoinery.artifacts

import java.io.ByteArrayInputStream

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.hadoop.ParquetReader
import org.apache.parquet.hadoop.api.ReadSupport
import org.apache.parquet.io.{DelegatingSeekableInputStream, InputFile, SeekableInputStream}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.RebaseDateTime.RebaseSpec
import org.apache.spark.sql.execution.datasources.parquet.ParquetReadSupport
import org.apache.spark.sql.internal.{LegacyBehaviorPolicy, SQLConf}
import org.apache.spark.sql.types.StructType

/** Reads a Parquet file that is in memory as rows of Spark, in the driver and without a job. */
object ParquetBytes {

  /**
   * @param columns
   *   the columns to read; a column that the file does not have is NULL
   * @param f
   *   receives each row, which is valid until the next call
   */
  def foreach(bytes: Array[Byte], columns: StructType)(f: InternalRow => Unit): Unit = {
    val conf = new Configuration(false)
    conf.set(ParquetReadSupport.SPARK_ROW_REQUESTED_SCHEMA, columns.json)
    Settings.foreach { case (key, value) => conf.setBoolean(key, value) }
    val reader = new Builder(new Input(bytes)).withConf(conf).build()
    def read(): InternalRow =
      try reader.read()
      catch {
        case NonFatal(failure) =>
          throw new DamagedArtifactException(s"its data cannot be read as ${columns.toDDL}: ${failure.getMessage}")
      }
    try Iterator.continually(read()).takeWhile(_ != null).foreach(f)
    finally reader.close()
  }

  // Spark's reader has no defaults for these.
  private val Settings = Seq(
    SQLConf.PARQUET_BINARY_AS_STRING.key -> false,
    SQLConf.PARQUET_INT96_AS_TIMESTAMP.key -> true,
    SQLConf.CASE_SENSITIVE.key -> true,
    SQLConf.PARQUET_INFER_TIMESTAMP_NTZ_ENABLED.key -> true,
    SQLConf.LEGACY_PARQUET_NANOS_AS_LONG.key -> false
  )

  private class Builder(input: InputFile) extends ParquetReader.Builder[InternalRow](input) {
    override protected def getReadSupport: ReadSupport[InternalRow] = {
      val asStored = RebaseSpec(LegacyBehaviorPolicy.CORRECTED)
      new ParquetReadSupport(None, enableVectorizedReader = false, asStored, asStored)
    }
  }

  private class Input(bytes: Array[Byte]) extends InputFile {
    override def getLength: Long = bytes.length
    override def newStream(): SeekableInputStream = new Stream(new Bytes(bytes))
  }

  private class Bytes(bytes: Array[Byte]) extends ByteArrayInputStream(bytes) {
    def position: Long = pos
    def position(to: Long): Unit = pos = Math.toIntExact(to)
  }

  private class Stream(bytes: Bytes) extends DelegatingSeekableInputStream(bytes) {
    override def getPos: Long = bytes.position
    override def seek(to: Long): Unit = bytes.position(to)
  }
}
