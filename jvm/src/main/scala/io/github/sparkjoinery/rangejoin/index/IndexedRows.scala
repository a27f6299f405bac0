package io.github.sparkjoinery.rangejoin.index

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.joinery.ShippedRelation

/**
 * Stands for the rows that a broadcast collects, where their index is there already. Iterating over it gives nothing.
 *
 * @param index
 *   None if it is too large to be shipped
 */
private[rangejoin] final class IndexedRows(val index: Option[ShippedRelation]) extends Iterator[InternalRow] {
  override def hasNext: Boolean = false
  override def next(): InternalRow = throw new NoSuchElementException
}
