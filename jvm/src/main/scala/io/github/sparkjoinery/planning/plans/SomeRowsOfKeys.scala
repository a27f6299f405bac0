package io.github.sparkjoinery.planning.plans

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.UnaryNode

/**
 * A node that keeps some rows of each key. A filter over keys keeps all rows of a key or none, so it may move below the
 * node.
 */
trait SomeRowsOfKeys extends UnaryNode {
  def keys: Seq[Expression]
}
