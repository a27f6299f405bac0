package io.github.sparkjoinery.filters.built

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types._

import io.github.sparkjoinery.expressions._

/**
 * A filter that the query builds from the keys of a small side.
 *
 * @param keys
 *   a subquery of one row: a struct as [[KeySummary]] describes it, whose first field is the filter
 * @param source
 *   the source of the keys, for EXPLAIN
 * @param isSelective
 *   true if hardly any row is likely to pass
 */
case class BuiltFilter(keys: Expression, source: String, isSelective: Boolean) extends UnaryExpression
  with KeyFilterExpression
  with Unevaluable {
  override def child: Expression = keys
  override def toString: String = s"$source by $keys"
  override def sql: String = source

  override def keyFilter: KeyFilter = keys match {
    case building: KeySubquery => building.filter.getOrElse(throw new IllegalStateException(s"$this is not built yet"))
    case _ =>
      KeySummary.filterOf(keys.eval().asInstanceOf[InternalRow], source).fold[KeyFilter](AbsentFilter(source))(_._2)
  }

  // A task that interprets the expression receives the filter, not the plan that built it. Plans are sent along with
  // tasks, too, and some of those never run.
  private def writeReplace(): AnyRef = keys match {
    case building: KeySubquery => StoredFilter(building.filter.getOrElse(AbsentFilter(source)))
    case _ => this
  }

  override protected def withNewChildInternal(newChild: Expression): BuiltFilter = copy(keys = newChild)
}

/**
 * The smallest or the largest value of a small side's keys.
 *
 * @param keys
 *   the subquery, see [[BuiltFilter]]
 * @param field
 *   the field of the struct that the subquery returns
 * @param absent
 *   a value that no row exceeds, for keys without a bound
 * @param source
 *   the source of the keys
 * @param isTold
 *   true if readers of files may skip rows by the bound
 */
case class KeyBound(keys: Expression, field: Int, absent: Literal, source: String, isTold: Boolean)
  extends UnaryExpression
  with CodegenFallback
  with OfRuntimeFilter {
  override def child: Expression = keys
  override def nullable: Boolean = false
  override def dataType: DataType = absent.dataType
  override def toString: String = s"bound $field by $keys"

  override def eval(input: InternalRow): Any = KeyBound.of(keys.eval(input).asInstanceOf[InternalRow], field, absent)

  override protected def withNewChildInternal(newChild: Expression): KeyBound = copy(keys = newChild)
}

object KeyBound {
  def of(row: InternalRow, field: Int, absent: Literal): Any =
    if (row == null || row.isNullAt(field)) absent.value else row.get(field, absent.dataType)

  // The first and last day of the years 1 to 9999.
  private val FirstDay = -719162
  private val LastDay = 2932896

  /** True if Java's dates and times can hold a value, in any calendar. */
  def isTellable(value: Literal): Boolean = (value.value, value.dataType) match {
    case (day: Int, DateType) => day >= FirstDay && day <= LastDay
    case (micros: Long, TimestampType | TimestampNTZType) =>
      micros >= (FirstDay + 2) * MICROS_PER_DAY && micros <= (LastDay - 2) * MICROS_PER_DAY
    case _ => true
  }
}

/** A filter that counts, for the metrics of the node that built it, the keys that it tests and drops. */
class MeteredFilter(filter: SplitBlockFilter, tested: SQLMetric, dropped: SQLMetric, paused: SQLMetric)
  extends KeyFilter {
  override def relation: String = filter.relation

  override def newTester(pauses: Boolean): KeyTester = {
    val tester = filter.newTester(pauses)
    Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit] { _ =>
      tested += tester.rowsTested
      dropped += tester.rowsDropped
      if (tester.hasPaused) paused += 1
    })
    tester
  }
}
