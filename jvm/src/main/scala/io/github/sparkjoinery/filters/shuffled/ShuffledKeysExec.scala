package io.github.sparkjoinery.filters.shuffled

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.types.{BinaryType, StructType}

import io.github.sparkjoinery.filters.built.KeyHashes

/**
 * Summarizes the keys of shuffled rows, as [[io.github.sparkjoinery.filters.built.KeySummary]] does. The result is one
 * row of one struct, whose only field is the filter. Each task sends its distinct hashes, and the driver merges them.
 *
 * @param hash
 *   the hash of a row's keys; NULL is left out, as it equals nothing
 * @param limit
 *   the largest number of keys for which a filter is built
 */
case class ShuffledKeysExec(hash: Expression, limit: Int, child: SparkPlan) extends UnaryExecNode {
  override val output: Seq[Attribute] =
    Seq(AttributeReference("keys", new StructType().add("filter", BinaryType), nullable = false)())

  override def executeCollect(): Array[InternalRow] = {
    val all = KeyHashes(limit)
    hashes().collect().foreach(bytes => all.addAll(KeyHashes.ofBytes(bytes, limit)))
    Array(InternalRow(InternalRow(all.toFilter.orNull)))
  }

  private def hashes(): RDD[Array[Byte]] = {
    val (bound, most) = (BindReferences.bindReference(hash, child.output), limit)
    child.execute().mapPartitions { rows =>
      val hashOf = UnsafeProjection.create(Seq(bound))
      val hashes = KeyHashes(most)
      rows.map(hashOf).filterNot(_.isNullAt(0)).foreach(row => hashes.add(row.getLong(0)))
      Iterator.single(hashes.toBytes)
    }
  }

  override protected def doExecute(): RDD[InternalRow] =
    throw new UnsupportedOperationException(s"$nodeName is collected")

  override protected def withNewChildInternal(newChild: SparkPlan): ShuffledKeysExec = copy(child = newChild)
}
