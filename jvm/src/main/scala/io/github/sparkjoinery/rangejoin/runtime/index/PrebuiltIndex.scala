package io.github.sparkjoinery.rangejoin.runtime.index

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.joinery.BroadcastRelation

/**
 * Takes the place of the rows that a broadcast collects, if their index exists already. The iterator is empty.
 *
 * @param index
 *   None if the index is too large to be broadcast
 */
private[rangejoin] final class PrebuiltIndex(val index: Option[BroadcastRelation]) extends Iterator[InternalRow] {
  override def hasNext: Boolean = false
  override def next(): InternalRow = throw new NoSuchElementException
}
