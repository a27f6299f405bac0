package io.github.sparkjoinery.filters.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.joinery.FilesOf
import org.apache.spark.sql.types._

import io.github.sparkjoinery.expressions.{KnownFilter, MightContain}
import io.github.sparkjoinery.filters.runtime.ShuffledKeys

/** Makes the predicate that rows of the application side have to pass, of the keys that were found. */
object RuntimeFilterPredicate {

  /**
   * @param terms
   *   the creation terms of `keys.ranges`, in the order of the extremes
   * @param pauses
   *   true if the filter may drop some rows of a key and let others pass
   * @return
   *   None if nothing is known that would drop a row
   */
  def apply(
      keys: FilterableKeys,
      terms: Seq[Expression],
      found: ShuffledKeys,
      pauses: Boolean): Option[Expression] = {
    val compared = keys.ranges.flatMap { range =>
      found.extremes.boundsOf(terms.indexWhere(_.semanticEquals(range.creation))).map { case (least, most) =>
        val bound = literal(if (range.isUpper) most else least, range.application, keys.side)
        if (range.isUpper) LessThanOrEqual(range.application, bound) else GreaterThanOrEqual(range.application, bound)
      }
    }
    val contained =
      for (filter <- found.filter; hash <- keys.applicationHash)
        yield MightContain(hash, KnownFilter(filter, tables = found.tables), pauses)
    (compared ++ contained).reduceOption[Expression](And(_, _))
  }

  /** A bound. It is a plain literal only if readers of files may see it. */
  private def literal(value: Any, column: Attribute, side: LogicalPlan): Expression = {
    val bound = Literal(value, column.dataType)
    if (isTold(column, side) && isTellable(bound)) bound else KnownNotNull(bound)
  }

  /**
   * Whether the readers of a column may skip rows by a bound: Parquet's may. JSON's reader drops rows by the first of
   * two values of a field, while Spark takes the second. ORC's fails if a file's column is of another type than the
   * table's. Parquet's reader cuts off the digits of a decimal that is narrower in a file.
   */
  private def isTold(column: Attribute, side: LogicalPlan): Boolean = KeyLineage.trace(column, side).forall { found =>
    found.end match {
      case FilesOf(files) => (files.fileFormat, column.dataType) match {
          case (_: ParquetFileFormat, _: DecimalType) => false
          case (_: ParquetFileFormat, _) => true
          case _ => false
        }
      case _ => found.isConstant || KeyLineage.isOfRows(found.end)
    }
  }

  // From the year 1 to 9999.
  private val FirstDay = -719162
  private val LastDay = 2932896

  /** True for a value that Java's dates and times have, in any calendar. */
  private def isTellable(value: Literal): Boolean = {
    val microsPerDay = 24 * 60 * 60 * 1000000L
    (value.value, value.dataType) match {
      case (day: Int, DateType) => day >= FirstDay && day <= LastDay
      case (micros: Long, TimestampType | TimestampNTZType) =>
        micros >= (FirstDay + 2) * microsPerDay && micros <= (LastDay - 2) * microsPerDay
      case _ => true
    }
  }
}
