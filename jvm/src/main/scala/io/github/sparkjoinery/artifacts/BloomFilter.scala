package io.github.sparkjoinery.artifacts

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{IntegerType, LongType, StructField, StructType}

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
        "it cannot be proven complete, as an older release built it; `joinery refresh` builds it again")
    }
    val words = new Array[Long](Math.toIntExact(blocks * 4))
    files.data(version).foreach(bytes => ParquetBytes.foreach(bytes, Columns)(put(_, words)))
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

  private val Columns = StructType(
    StructField("block", IntegerType) +: (0 until 4).map(word => StructField(s"w$word", LongType)))

  /** Copies a row (block, w0 .. w3) to the words of its block; a missing word is 0. */
  private def put(row: InternalRow, words: Array[Long]): Unit = {
    val block = if (row.isNullAt(0)) -1 else row.getInt(0)
    if (block < 0 || block >= words.length / 4)
      throw new DamagedArtifactException(s"its data has a block $block beyond the last")
    val at = block * 4
    if (words(at) != 0) throw new DamagedArtifactException(s"its data has block $block twice")
    for (word <- 0 until 4) {
      words(at + word) = if (row.isNullAt(word + 1)) 0 else row.getLong(word + 1)
      if (!holdsKey(words(at + word)))
        throw new DamagedArtifactException(s"its data has a block $block that no key can have filled")
    }
  }
}
