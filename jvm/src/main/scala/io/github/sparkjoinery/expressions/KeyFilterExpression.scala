package io.github.sparkjoinery.expressions

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{BinaryType, DataType}

/**
 * An expression that holds a filter, from the store or built while the query runs. It cannot be evaluated to a value.
 */
trait KeyFilterExpression extends Expression {

  /** The filter. Available on the driver, after the subquery that builds it has finished. */
  def keyFilter: KeyFilter

  /** True if hardly any row is likely to pass. */
  def isSelective: Boolean
  override def nullable: Boolean = false
  override def dataType: DataType = BinaryType
}
