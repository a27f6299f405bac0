package io.github.sparkjoinery.rules

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.trees.Origin

/**
 * A LAST JOIN that cannot be: an analysis error with a class of its own, `JOINERY_LAST_JOIN.<condition>`,
 * that shows the place in the user's text as Spark's own errors do.
 */
class LastJoinException(condition: String, text: String, origin: Origin)
  extends AnalysisException(
    s"[${LastJoinException.errorClass(condition)}] $text" + LastJoinException.place(origin),
    origin.line,
    origin.startPosition,
    None,
    Some(LastJoinException.errorClass(condition)),
    Map.empty,
    origin.getQueryContext)

object LastJoinException {
  private def errorClass(condition: String): String = s"JOINERY_LAST_JOIN.$condition"

  private def place(origin: Origin): String =
    origin.getQueryContext.headOption.map(context => "\n" + context.summary).getOrElse("")

  def fail(condition: String, text: String, origin: Origin): Nothing =
    throw new LastJoinException(condition, text, origin)
}
