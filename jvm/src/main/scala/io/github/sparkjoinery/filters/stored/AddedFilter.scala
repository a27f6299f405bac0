package io.github.sparkjoinery.filters.stored

import scala.util.Try

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression, Unevaluable}

import io.github.sparkjoinery.expressions._
import io.github.sparkjoinery.filters.runtime.ShuffledKeys

/**
 * The filter of keys that a query reads itself.
 *
 * @param keys
 *   a subquery whose value is the filter, as [[io.github.sparkjoinery.filters.runtime.KeyHashes]] writes it
 * @param source
 *   the origin of the keys, for EXPLAIN
 * @param isSelective
 *   true if hardly any row is likely to pass
 */
case class AddedFilter(keys: Expression, source: String, isSelective: Boolean) extends UnaryExpression
  with KeyFilterExpression
  with Unevaluable {
  override def child: Expression = keys
  override def toString: String = s"$source by $keys"
  override def sql: String = source

  override def keyFilter: KeyFilter =
    Option(keys.eval(InternalRow.empty)).fold[KeyFilter](AbsentFilter(source)) { bytes =>
      ShuffledKeys.filterOf(bytes.asInstanceOf[Array[Byte]], source)
    }

  // A task that interprets the expression receives the filter, not the plan of the subquery. Plans are sent along with
  // tasks, too, and some of those never run.
  private def writeReplace(): AnyRef = KnownFilter(Try(keyFilter).getOrElse(AbsentFilter(source)), isSelective)

  override protected def withNewChildInternal(newChild: Expression): AddedFilter = copy(keys = newChild)
}
