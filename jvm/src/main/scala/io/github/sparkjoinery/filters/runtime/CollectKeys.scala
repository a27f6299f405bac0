package io.github.sparkjoinery.filters.runtime

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.aggregate.{ImperativeAggregate, TypedImperativeAggregate}
import org.apache.spark.sql.catalyst.trees.UnaryLike
import org.apache.spark.sql.types.{BinaryType, DataType}

/**
 * Aggregate function that builds a split-block bloom filter from hashes of keys; [[KeyHashes.readFilter]] reads it. It
 * counts distinct keys first, so that the filter has the size that they need, regardless of estimates.
 *
 * @param child
 *   the hash of a row's keys; NULL is left out, as it equals nothing
 * @param limit
 *   the largest number of keys for which a filter is built. The result is NULL if there are more, or if a task has no
 *   memory for them.
 */
case class CollectKeys(
    child: Expression,
    limit: Int,
    override val mutableAggBufferOffset: Int = 0,
    override val inputAggBufferOffset: Int = 0) extends TypedImperativeAggregate[KeyHashes] with UnaryLike[Expression] {

  override def prettyName: String = "joinery_collect_keys"
  override def dataType: DataType = BinaryType
  override def nullable: Boolean = true

  override def createAggregationBuffer(): KeyHashes = KeyHashes(limit)

  override def update(buffer: KeyHashes, row: InternalRow): KeyHashes = {
    // a key that raises an error may match any row
    try {
      val hash = child.eval(row)
      if (hash != null) buffer.add(hash.asInstanceOf[Long])
    } catch { case NonFatal(_) => buffer.giveUp() }
    buffer
  }

  override def merge(buffer: KeyHashes, other: KeyHashes): KeyHashes = {
    buffer.addAll(other)
    buffer
  }

  override def eval(buffer: KeyHashes): Any = buffer.toFilter.orNull
  override def serialize(buffer: KeyHashes): Array[Byte] = buffer.toBytes
  override def deserialize(bytes: Array[Byte]): KeyHashes = KeyHashes.ofBytes(bytes, limit)

  override def withNewMutableAggBufferOffset(offset: Int): ImperativeAggregate = copy(mutableAggBufferOffset = offset)
  override def withNewInputAggBufferOffset(offset: Int): ImperativeAggregate = copy(inputAggBufferOffset = offset)
  override protected def withNewChildInternal(newChild: Expression): CollectKeys = copy(child = newChild)
}
