package io.github.sparkjoinery.artifacts

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{IntegerType, LongType, StructField, StructType}

import io.github.sparkjoinery.expressions.SplitBlockFilter

/** Reads the bloom filters that the jobs have built. */
object BloomFilter {
  val Kind = "bloom_filter"
  private val MaxBlocks = 1 << 24

  /**
   * Reads a version whole, and makes sure that it is: a block that is missing would drop rows. A description of an
   * older release does not tell how many there were, and its filter is not used.
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
    files.data(version).foreach(bytes => ParquetBytes.foreach(bytes, Columns)(put(_, words)))
    for ((field, found) <- Proof.zip(Seq(filledBlocks(words), setBits(words))) if version.count(field) != found) {
      throw new DamagedArtifactException(
        s"its data has $found ${field.replace('_', ' ')} instead of ${version.count(field)}")
    }
    new SplitBlockFilter(version.field("relation"), version.folder.toString, blocks.toInt, words)
  }

  /** Fields of the description that tell how much there is to read. */
  private val Proof = Seq("filled_blocks", "set_bits")

  private def filledBlocks(words: Array[Long]): Long = (words.indices by 4).count(words(_) != 0).toLong

  private def setBits(words: Array[Long]): Long = {
    var bits = 0L
    words.foreach(word => bits += java.lang.Long.bitCount(word))
    bits
  }

  /** Each key sets a bit in both halves of every word of its block. */
  private def holdsKey(word: Long): Boolean = (word & 0xffffffffL) != 0 && word >>> 32 != 0

  private val Columns = StructType(
    StructField("block", IntegerType) +: (0 until 4).map(word => StructField(s"w$word", LongType)))

  /** Puts the words of a row where they belong; one that is missing is 0. */
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
