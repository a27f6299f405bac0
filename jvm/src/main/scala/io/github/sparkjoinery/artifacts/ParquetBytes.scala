package io.github.sparkjoinery.artifacts

import java.io.ByteArrayInputStream

import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.io.api.RecordMaterializer
import org.apache.parquet.io.{ColumnIOFactory, DelegatingSeekableInputStream, InputFile, SeekableInputStream}
import org.apache.parquet.schema.MessageType

/** Reads a Parquet file from a byte array, on the driver and without a Spark job. */
object ParquetBytes {

  /** @param materializer makes records from the schema of the file; throws if it does not accept the schema */
  def foreach[T](bytes: Array[Byte], materializer: MessageType => RecordMaterializer[T])(f: T => Unit): Unit = {
    val reader = ParquetFileReader.open(new Input(bytes))
    try {
      val schema = reader.getFileMetaData.getSchema
      val records = materializer(schema)
      val columns = new ColumnIOFactory().getColumnIO(schema)
      var pages = reader.readNextRowGroup()
      while (pages != null) {
        val rows = columns.getRecordReader(pages, records)
        var left = pages.getRowCount
        while (left > 0) {
          f(rows.read())
          left -= 1
        }
        pages = reader.readNextRowGroup()
      }
    } finally reader.close()
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
