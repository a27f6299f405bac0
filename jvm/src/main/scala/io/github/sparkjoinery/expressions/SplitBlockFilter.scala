package io.github.sparkjoinery.expressions

import java.io.ObjectOutputStream

import org.apache.spark.SparkContext
import org.apache.spark.broadcast.Broadcast

/**
 * A split-block bloom filter over hashes of keys. Each hash sets, or tests, eight bits in one block of 256 bits. The
 * filter is broadcast when it is first serialized to an executor, so EXPLAIN alone starts no broadcast.
 *
 * @param relation
 *   identity of its source, for EXPLAIN
 * @param id
 *   identifies the stored version, or the query that built it; filters with the same id are equal
 * @param local
 *   four words per block; null on executors, which read the broadcast
 */
class SplitBlockFilter(val relation: String, val id: String, val blocks: Int, @transient private val local: Array[Long])
  extends KeyFilter {
  private var remote: Broadcast[Array[Long]] = _
  @transient private var context: SparkContext = _

  override def newTester(pauses: Boolean): KeyTester =
    new FilterTester(blocks, if (local != null) local else remote.value, pauses)

  private def writeObject(out: ObjectOutputStream): Unit = synchronized {
    if (local != null && (context == null || context.isStopped)) { // in the driver
      context = SparkContext.getOrCreate()
      remote = context.broadcast(local)
    }
    out.defaultWriteObject()
  }

  override def equals(other: Any): Boolean = other match {
    case filter: SplitBlockFilter => filter.id == id
    case _ => false
  }
  override def hashCode: Int = id.hashCode
  override def toString: String = relation
}
