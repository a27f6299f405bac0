package io.github.sparkjoinery.rangejoin.stored

import java.util.concurrent.atomic.AtomicLong

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.joinery.{DriverBuildMemory, InParallel, JavaBytes}

import io.github.sparkjoinery.artifacts.DamagedArtifactException
import io.github.sparkjoinery.rangejoin.logical.RangeLayout
import io.github.sparkjoinery.rangejoin.runtime.index.{RangeIndex, RangeIndexBuilder}

/**
 * Everything that is needed to load a stored index into memory.
 *
 * @param added
 *   rows that are not in the store
 * @param limit
 *   most bytes of the index
 */
private[stored] case class StoredRangeRecipe(
    rows: StoredRows,
    layout: RangeLayout,
    added: Array[UnsafeRow],
    limit: Long) {

  /** Loads the index; None if it would take too much memory. */
  def load(): Option[RangeIndex] = {
    val memory = new DriverBuildMemory(limit)
    val all = new RangeIndexBuilder(layout, memory, expected = math.min(rows.count, Int.MaxValue).toInt)
    val seen = new AtomicLong
    val isWhole = if (layout.keys.isEmpty) inParallel(all, memory, seen) else rows.files.forall(take(_, all, seen))
    if (!isWhole) None
    else if (seen.get != rows.count)
      throw new DamagedArtifactException(s"its data has ${seen.get} rows instead of ${rows.count}")
    else if (added.forall(all.add)) Option(all.result())
    else None
  }

  /**
   * Adds the rows of a file to the builder and counts them.
   *
   * @return
   *   false if there was no memory for them
   */
  private def take(file: PartitionedFile, builder: RangeIndexBuilder, seen: AtomicLong): Boolean = {
    val ofFile = rows.foreach(file)(builder.add)
    seen.addAndGet(ofFile)
    ofFile >= 0
  }

  /** Reads several files in parallel, each into a builder of its own, and concatenates the builders in file order. */
  private def inParallel(all: RangeIndexBuilder, memory: DriverBuildMemory, seen: AtomicLong): Boolean = {
    val conf = SQLConf.get
    val perFile = (rows.count * 1.1 / rows.files.length).toInt
    val parts = InParallel(rows.files, "joinery-stored-index") { file =>
      SQLConf.withExistingConf(conf) {
        val part = new RangeIndexBuilder(layout, memory, expected = perFile)
        if (take(file, part, seen)) Some(part) else None
      }
    }
    parts.forall(_.exists(all.append))
  }

  /** Serializes with Java instead of `spark.serializer`, because the recipe contains a function. */
  def toBytes: Array[Byte] = JavaBytes.write(this)
}

private[stored] object StoredRangeRecipe {
  def read(bytes: Array[Byte]): StoredRangeRecipe = JavaBytes.read[StoredRangeRecipe](bytes)
}
