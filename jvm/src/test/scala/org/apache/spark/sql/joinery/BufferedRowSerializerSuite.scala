package org.apache.spark.sql.joinery

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, EOFException, InputStream, SequenceInputStream}

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.serializer.Serializer
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.UnsafeRowSerializer
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.{BinaryType, DataType, LongType}

/** The bytes are those of Spark's serializer, in both directions. */
class BufferedRowSerializerSuite extends AnyFunSuite {
  private val toUnsafe = UnsafeProjection.create(Array[DataType](LongType, BinaryType))
  private val metric = new SQLMetric("size", 0)
  private val sparks: Serializer = new UnsafeRowSerializer(2, metric)
  private val ours: Serializer = new BufferedRowSerializer(2, metric)

  private def row(id: Long, bytes: Int): UnsafeRow = toUnsafe(InternalRow(id, Array.fill(bytes)(id.toByte))).copy()

  private def written(by: Serializer, rows: Seq[UnsafeRow], flushes: Boolean = false): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val stream = by.newInstance().serializeStream(bytes)
    for (row <- rows) {
      stream.writeKey(7).writeValue(row)
      if (flushes) {
        stream.flush()
        assert(bytes.size % 8 == 4 * (bytes.size / 4 % 2), "the row is written")
      }
    }
    stream.close()
    bytes.toByteArray
  }

  /** The rows of a stream. Each is copied after the next is known to exist, as an iterator's reader may do. */
  private def read(by: Serializer, in: InputStream): Seq[UnsafeRow] = {
    val rows = by.newInstance().deserializeStream(in).asKeyValueIterator.map(_._2.asInstanceOf[UnsafeRow])
    Iterator.continually(()).takeWhile(_ => rows.hasNext).map { _ =>
      val row = rows.next()
      rows.hasNext
      row.copy()
    }.toSeq
  }

  /** A stream that returns few bytes at a time, as a decompressing stream may. */
  private def slow(bytes: Array[Byte], most: Int): InputStream = new ByteArrayInputStream(bytes) {
    override def read(into: Array[Byte], at: Int, length: Int): Int = super.read(into, at, math.min(length, most))
  }

  private def sizes(random: Random): Seq[Int] = Seq.fill(random.nextInt(400)) {
    random.nextInt(20) match {
      case 0 => random.nextInt(200000)
      case 1 => 8192 - 40 + random.nextInt(80)
      case 2 => 65536 - 40 + random.nextInt(80)
      case _ => random.nextInt(100)
    }
  }

  test("rows of all sizes, next to the ends of buffers and longer than they are") {
    for (seed <- 0 until 40) {
      val random = new Random(seed)
      val rows = sizes(random).zipWithIndex.map { case (size, id) => row(id, size) }
      val bytes = written(sparks, rows)
      assert(java.util.Arrays.equals(written(ours, rows, flushes = seed % 2 == 0), bytes), s"seed $seed")
      assert(read(ours, new ByteArrayInputStream(bytes)) == rows, s"seed $seed")
      assert(read(ours, slow(bytes, 1 + random.nextInt(5000))) == rows, s"seed $seed")
      assert(read(sparks, new ByteArrayInputStream(written(ours, rows))) == rows, s"seed $seed")
    }
  }

  test("streams that follow one another are one stream") {
    val rows = Seq(row(1, 10), row(2, 100000), row(3, 0))
    val both = new SequenceInputStream(
      new ByteArrayInputStream(written(ours, rows)),
      new ByteArrayInputStream(written(ours, rows.reverse)))
    assert(read(ours, both) == rows ++ rows.reverse)
    assert(ours.supportsRelocationOfSerializedObjects)
  }

  test("no rows, and rows without columns") {
    assert(written(ours, Nil).isEmpty && read(ours, new ByteArrayInputStream(Array.emptyByteArray)).isEmpty)
    val none = new UnsafeRow(0)
    none.pointTo(Array.emptyByteArray, 0)
    val bytes = written(ours, Seq.fill(3)(none))
    assert(bytes.length == 12)
    assert(read(new BufferedRowSerializer(0, metric), new ByteArrayInputStream(bytes)).map(_.getSizeInBytes) == Seq(
      0,
      0,
      0))
  }

  test("a stream that ends within a row is an error") {
    val bytes = written(ours, Seq(row(1, 10), row(2, 90000)))
    for (length <- Seq(2, 20, 50, 70000, bytes.length - 1))
      intercept[EOFException](read(ours, new ByteArrayInputStream(bytes.take(length))))
  }

  test("the stream is closed after its last row") {
    var closed = 0
    val in = new ByteArrayInputStream(written(ours, Seq(row(1, 10)))) {
      override def close(): Unit = closed += 1
    }
    val rows = ours.newInstance().deserializeStream(in).asKeyValueIterator
    rows.next()
    assert(closed == 0 && !rows.hasNext && !rows.hasNext && closed == 1)
    intercept[NoSuchElementException](rows.next())
  }

  test("bytes are counted") {
    val metric = new SQLMetric("size", 0)
    val rows = Seq(row(1, 10), row(2, 90000))
    written(new BufferedRowSerializer(2, metric), rows)
    assert(metric.value == rows.map(_.getSizeInBytes.toLong).sum)
  }
}
