package io.github.sparkjoinery

import org.apache.spark.sql.functions.call_function
import org.apache.spark.sql.{Column, DataFrame, Dataset}

import io.github.sparkjoinery.lastjoin.logical.{LastJoinAsOf, LastJoinOrder}

/**
 * LAST JOIN on Datasets:
 * {{{
 * import io.github.sparkjoinery.implicits._
 *
 * // the latest weather report at or before each departure, if it is no older than two hours
 * flights.lastJoin(weather, Seq("origin"), AsOf($"departs_at", expr("INTERVAL 2 HOURS")), $"observed_at")
 * }}}
 * The session must run with [[JoineryExtensions]]; without it the query fails with UNRESOLVED_ROUTINE.
 */
object implicits {

  implicit class LastJoinDataset(private val left: Dataset[_]) extends AnyVal {

    /**
     * Returns each left row once, with the last right row that has the same values in the given columns, or with NULLs.
     *
     * @param right
     *   the rows to look up; `right.hint("broadcast")`, `"merge"` or `"shuffle_hash"` chooses the operator
     * @param usingColumns
     *   columns of both sides, which the result has once
     * @param orderBy
     *   columns of `right` that decide which row is last, most significant first, with Spark's defaults for direction
     *   and NULLs. Empty: any of the matches.
     */
    def lastJoin(right: Dataset[_], usingColumns: Seq[String], orderBy: Column*): DataFrame =
      left.toDF().join(implicits.ordered(right, orderBy), usingColumns, "left")

    /** Returns the same as the first form, with any condition over both sides. */
    def lastJoin(right: Dataset[_], on: Column, orderBy: Column*): DataFrame =
      left.toDF().join(implicits.ordered(right, orderBy), on, "left")

    /**
     * Joins at a point in time: of the right rows with the same values in the columns, returns the last one that is not
     * after `asOf`.
     *
     * @param asOf
     *   a time of the left row, and the largest distance of its match
     * @param orderBy
     *   decides which row is last; the first term is compared with `asOf`. If it is descending, the match is the first
     *   row that is not before `asOf`.
     */
    def lastJoin(right: Dataset[_], usingColumns: Seq[String], asOf: AsOf, orderBy: Column*): DataFrame =
      implicits.marked(left, asOf).join(implicits.ordered(right, orderBy), usingColumns, "left")

    /** Joins at a point in time, with any further condition over both sides. */
    def lastJoin(right: Dataset[_], on: Column, asOf: AsOf, orderBy: Column*): DataFrame =
      implicits.marked(left, asOf).join(implicits.ordered(right, orderBy), on, "left")
  }

  private def ordered(right: Dataset[_], orderBy: Seq[Column]): DataFrame =
    right.toDF().filter(call_function(LastJoinOrder.Name, orderBy: _*))

  private def marked(left: Dataset[_], asOf: AsOf): DataFrame =
    left.toDF().filter(call_function(LastJoinAsOf.Name, asOf.time +: asOf.tolerance.toSeq: _*))
}

/**
 * The time of a left row for a point-in-time join.
 *
 * @param time
 *   a column of the left side, or an expression over its columns
 * @param tolerance
 *   the largest allowed distance of the match from `time`, inclusive: an interval for dates and timestamps, a number
 *   for numbers
 */
case class AsOf(time: Column, tolerance: Option[Column])

object AsOf {
  def apply(time: Column): AsOf = AsOf(time, None)
  def apply(time: Column, tolerance: Column): AsOf = AsOf(time, Some(tolerance))
}
