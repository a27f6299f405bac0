package io.github.sparkjoinery.rangejoin.runtime.index

import org.apache.spark.sql.execution.joinery.ShippedRelation

/** A broadcast relation that a range join searches. */
abstract class SearchableRelation extends ShippedRelation {
  def index: RangeIndex
}
