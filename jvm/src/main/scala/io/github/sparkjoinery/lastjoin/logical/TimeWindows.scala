package io.github.sparkjoinery.lastjoin.logical

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.expressions.Expression

import io.github.sparkjoinery.planning.JoineryException

/**
 * Refuses `window()`, `session_window()` and `window_time()` in terms of a LAST JOIN. Spark turns each into a column
 * below any plan with one child, and the marks of a LAST JOIN have one child. The column would be in the result, and
 * the first two would drop rows without a time.
 */
object TimeWindows {
  private val DropsRows = "a column that drops rows without a time. Compute it in a subquery, or use date_trunc."

  private val Names = Map(
    "window" -> DropsRows,
    "session_window" -> DropsRows,
    "window_time" -> "a column of the result. Write `w.end - INTERVAL 1 MICROSECOND`, which is window_time(w)."
  )

  /** Returns the error of a term that calls one of the functions, before Spark resolves them. */
  def refusal(where: String)(term: Expression): Option[JoineryException] = term.collectFirst {
    case function: UnresolvedFunction if Names.contains(nameOf(function)) =>
      new JoineryException(
        "TIME_WINDOW",
        s"$where of LAST JOIN does not take ${nameOf(function)}(), of which Spark makes ${Names(nameOf(function))}",
        function.origin
      )
  }

  def nameOf(function: UnresolvedFunction): String = function.nameParts.last.toLowerCase(Locale.ROOT)
}
