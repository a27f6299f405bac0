package io.github.sparkjoinery.expressions

import org.apache.spark.sql.catalyst.expressions._

/**
 * A filter that exists when the rows it tests are planned.
 *
 * @param tables
 *   the tables that the query has read the keys from; empty for a filter of the store
 */
case class KnownFilter(keyFilter: KeyFilter, isSelective: Boolean = false, tables: Seq[String] = Nil)
  extends LeafExpression with KeyFilterExpression with Unevaluable {
  override def toString: String = keyFilter.relation
}
