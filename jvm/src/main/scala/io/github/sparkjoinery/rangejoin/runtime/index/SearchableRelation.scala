package io.github.sparkjoinery.rangejoin.runtime.index

import org.apache.spark.sql.execution.joinery.BroadcastRelation

/** A broadcast relation that a range join searches. */
abstract class SearchableRelation extends BroadcastRelation {
  def index: RangeIndex
}
