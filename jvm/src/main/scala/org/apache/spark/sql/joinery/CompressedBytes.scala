package org.apache.spark.sql.joinery

import java.io.{InputStream, OutputStream}
import java.nio.ByteBuffer

import org.apache.spark.SparkEnv
import org.apache.spark.io.CompressionCodec
import org.apache.spark.util.io.{ChunkedByteBuffer, ChunkedByteBufferOutputStream}

/** Bytes in chunks, compressed with the codec of `spark.io.compression.codec`. */
final class CompressedBytes private (pieces: ChunkedByteBuffer) extends Serializable {

  /** Decompresses the bytes. */
  def read(): InputStream = CompressedBytes.codec.compressedInputStream(pieces.toInputStream())
}

object CompressedBytes {
  private val PieceBytes = 1 << 20 // as Spark's; larger arrays can be humongous objects of G1

  /** Compresses everything that `write` writes to the stream, then closes the stream. */
  def written(write: OutputStream => Unit): CompressedBytes = {
    val pieces = new ChunkedByteBufferOutputStream(PieceBytes, ByteBuffer.allocate)
    val out = codec.compressedOutputStream(pieces)
    write(out)
    out.close()
    new CompressedBytes(pieces.toChunkedByteBuffer)
  }

  private def codec: CompressionCodec = CompressionCodec.createCodec(SparkEnv.get.conf)
}
