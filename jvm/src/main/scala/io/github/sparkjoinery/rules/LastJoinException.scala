package io.github.sparkjoinery.rules

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.trees.Origin

/**
 * A LAST JOIN that cannot be: an analysis error that starts with `[JOINERY_LAST_JOIN.<condition>]` and shows the place
 * in the user's text as Spark's own errors do. The condition is not passed as Spark's `errorClass`: PySpark looks
 * that up in Spark's own list and fails on classes it does not find there.
 */
class LastJoinException(condition: String, text: String, origin: Origin)
  extends AnalysisException(
    s"[JOINERY_LAST_JOIN.$condition] $text" + LastJoinException.place(origin),
    origin.line,
    origin.startPosition,
    None,
    None,
    Map.empty,
    origin.getQueryContext)

object LastJoinException {
  private def place(origin: Origin): String =
    origin.getQueryContext.headOption.map(context => "\n" + context.summary).getOrElse("")

  def fail(condition: String, text: String, origin: Origin): Nothing =
    throw new LastJoinException(condition, text, origin)
}
