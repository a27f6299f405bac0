package io.github.sparkjoinery.artifacts

import scala.jdk.CollectionConverters._

import org.apache.parquet.io.api._
import org.apache.parquet.schema.MessageType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.{INT32, INT64}

import io.github.sparkjoinery.expressions.SplitBlockFilter

/** Reads the bloom filters of the artifact store. */
object BloomFilter {
  val Kind = "bloom_filter"
  private val MaxBlocks = 1 << 24

  /**
   * Reads a version and proves that it is complete, because a missing block would drop rows. Versions of older releases
   * have no counts to check against and are refused.
   */
  def read(version: ArtifactVersion, files: StoreFiles, maxSize: Long): SplitBlockFilter = {
    if (version.field("hash") != "xxhash64")
      throw new DamagedArtifactException(s"its hash function is ${version.field("hash")}, not xxhash64")
    val blocks = version.count("blocks")
    if (blocks < 1 || blocks > MaxBlocks) throw new DamagedArtifactException(s"it cannot have $blocks blocks")
    if (blocks * 32 > maxSize) {
      throw new DamagedArtifactException(
        s"it takes ${blocks * 32} bytes, more than spark.joinery.store.maxArtifactSize")
    }
    if (!Proof.forall(version.has)) {
      throw new DamagedArtifactException(
        "it cannot be proven complete, as an older release built it; `joinery refresh` builds it anew")
    }
    val words = new Array[Long](Math.toIntExact(blocks * 4))
    files.data(version).foreach(bytes => ParquetBytes.foreach(bytes, new Blocks(_, words))(_ => ()))
    for ((field, found) <- Proof.zip(Seq(filledBlocks(words), setBits(words))) if version.count(field) != found) {
      throw new DamagedArtifactException(
        s"its data has $found ${field.replace('_', ' ')} instead of ${version.count(field)}")
    }
    new SplitBlockFilter(version.field("relation"), version.folder.toString, blocks.toInt, words)
  }

  /** Counts in the description that the data must match. */
  private val Proof = Seq("filled_blocks", "set_bits")

  private def filledBlocks(words: Array[Long]): Long = (words.indices by 4).count(words(_) != 0).toLong

  private def setBits(words: Array[Long]): Long = {
    var bits = 0L
    words.foreach(word => bits += java.lang.Long.bitCount(word))
    bits
  }

  /** True if a key can have set this word: each key sets one bit in the low half and one in the high half. */
  private def holdsKey(word: Long): Boolean = (word & 0xffffffffL) != 0 && word >>> 32 != 0

  private val Columns = Seq("block", "w0", "w1", "w2", "w3")

  /** Copies each Parquet row (block, w0 .. w3) to the words of its block. */
  private class Blocks(schema: MessageType, words: Array[Long]) extends RecordMaterializer[Unit] {
    private val row = new Array[Long](Columns.length)
    private val at = (0 until schema.getFieldCount).map(i => Columns.indexOf(schema.getFieldName(i))).toArray

    Columns.zipWithIndex.foreach { case (name, i) =>
      val expected = if (i == 0) INT32 else INT64
      if (!schema.getFields.asScala.exists(f =>
          f.getName == name && f.isPrimitive && f.asPrimitiveType.getPrimitiveTypeName == expected)) {
        throw new DamagedArtifactException(s"its data has no $expected column $name")
      }
    }

    override def getCurrentRecord: Unit = {
      val block = row(0)
      if (block < 0 || block >= words.length / 4)
        throw new DamagedArtifactException(s"its data has a block $block beyond the last")
      if ((1 until row.length).exists(i => !holdsKey(row(i)))) {
        throw new DamagedArtifactException(s"its data has a block $block that no key can have filled")
      }
      val at = block.toInt * 4
      if (words(at) != 0) throw new DamagedArtifactException(s"its data has block $block twice")
      System.arraycopy(row, 1, words, at, 4)
    }

    override val getRootConverter: GroupConverter = new GroupConverter {
      override def getConverter(field: Int): Converter = new PrimitiveConverter {
        private def set(value: Long): Unit = if (at(field) >= 0) row(at(field)) = value
        override def addInt(value: Int): Unit = set(value)
        override def addLong(value: Long): Unit = set(value)
      }
      override def start(): Unit = java.util.Arrays.fill(row, 0)
      override def end(): Unit = ()
    }
  }
}
