package io.github.sparkjoinery.planning

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.trees.Origin

/**
 * A LAST JOIN, ASOF JOIN or SKEW_WINDOW that cannot be: an analysis error whose message starts with
 * `[JOINERY_LAST_JOIN.<condition>]` (or `JOINERY_ASOF_JOIN`, `JOINERY_SKEW_WINDOW`) and shows the place in the user's
 * text as Spark's own errors do.
 *
 * @param condition
 *   the kind of error, in capitals
 * @param text
 *   what is wrong, what was expected and how to mend it
 * @param origin
 *   the place in the statement
 * @param of
 *   the kind of join, or the hint, in capitals
 */
class JoineryException(val condition: String, text: String, origin: Origin, of: String = "LAST_JOIN")
  extends AnalysisException(
    JoineryException.message(of, condition, text, origin),
    origin.line,
    origin.startPosition,
    None,
    Some(JoineryException.ErrorClass),
    Map("errorMessage" -> JoineryException.message(of, condition, text, origin)),
    origin.getQueryContext
  )

object JoineryException {
  // PySpark and Connect look classes up in Spark's own list and break on one they do not find there, so ours stands in
  // the message. This class's message is what it is given, without a prefix.
  private val ErrorClass = "_LEGACY_ERROR_USER_RAISED_EXCEPTION"

  private def message(of: String, condition: String, text: String, origin: Origin): String = {
    val place = origin.getQueryContext.headOption.map(context => "\n" + context.summary).getOrElse("")
    s"[JOINERY_$of.$condition] $text$place"
  }

  def fail(condition: String, text: String, origin: Origin): Nothing =
    throw new JoineryException(condition, text, origin)
}
