package io.github.sparkjoinery.rangejoin.stored

import java.nio.ByteBuffer

import org.apache.spark.SparkEnv
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.joinery.DriverBuildMemory

import io.github.sparkjoinery.artifacts.DamagedArtifactException
import io.github.sparkjoinery.rangejoin.index.{RangeIndex, RangeIndexBuilder, RangeLayout}

/**
 * All that it takes to have a stored index in memory.
 *
 * @param added
 *   rows that are not stored
 * @param limit
 *   bytes that the index may take
 */
private[stored] case class StoredRangeRecipe(
    rows: StoredRows,
    layout: RangeLayout,
    added: Array[UnsafeRow],
    limit: Long) {

  /** The index; None if it would take too much memory. */
  def load(): Option[RangeIndex] = {
    val builder = new RangeIndexBuilder(layout, new DriverBuildMemory(limit))
    val seen = rows.files.iterator.map(rows.foreach(_)(builder.add)).takeWhile(_ >= 0).toArray
    if (seen.length < rows.files.length) None
    else if (seen.sum != rows.count) {
      throw new DamagedArtifactException(s"its data has ${seen.sum} rows instead of ${rows.count}")
    } else if (added.forall(builder.add)) Option(builder.result())
    else None
  }

  /** By Java's serialization, whatever Spark uses for broadcasts: a part of it is a function. */
  def toBytes: Array[Byte] = {
    val buffer = SparkEnv.get.closureSerializer.newInstance().serialize(this)
    val bytes = new Array[Byte](buffer.remaining)
    buffer.get(bytes)
    bytes
  }
}

private[stored] object StoredRangeRecipe {
  def of(bytes: Array[Byte]): StoredRangeRecipe =
    SparkEnv.get.closureSerializer.newInstance().deserialize[StoredRangeRecipe](
      ByteBuffer.wrap(bytes),
      Thread.currentThread().getContextClassLoader)
}
