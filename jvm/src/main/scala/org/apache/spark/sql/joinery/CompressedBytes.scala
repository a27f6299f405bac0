package org.apache.spark.sql.joinery

import java.io.{InputStream, OutputStream}
import java.nio.ByteBuffer

import org.apache.spark.SparkEnv
import org.apache.spark.io.CompressionCodec
import org.apache.spark.util.io.{ChunkedByteBuffer, ChunkedByteBufferOutputStream}

/** Bytes as Spark compresses what it collects, in pieces: `spark.io.compression.codec` says how. */
final class CompressedBytes private (pieces: ChunkedByteBuffer) extends Serializable {

  /** What was written. */
  def read(): InputStream = CompressedBytes.codec.compressedInputStream(pieces.toInputStream())
}

object CompressedBytes {
  private val PieceBytes = 1 << 20 // as Spark's; larger arrays get heap regions of their own

  /** Those that are written to a stream, which is closed after that. */
  def written(write: OutputStream => Unit): CompressedBytes = {
    val pieces = new ChunkedByteBufferOutputStream(PieceBytes, ByteBuffer.allocate)
    val out = codec.compressedOutputStream(pieces)
    write(out)
    out.close()
    new CompressedBytes(pieces.toChunkedByteBuffer)
  }

  private def codec: CompressionCodec = CompressionCodec.createCodec(SparkEnv.get.conf)
}
